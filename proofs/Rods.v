(* Chains that close over one rod: what their equations imply in a box. Mirrors checker/rod_equations.py.

   What "consistent" means. The unknowns x of a chain fit pose k with errors e of the pose ([rod_fits]) if there are an
   error of the chain's own reading and a rest ρ in space such that

     |p + A x + Σ_e ε_e (D_e + B_e x) + ρ| = l,   |ε_e| ≤ tolerance_e,   |ρ| ≤ blur + Σ_j bend_j |x_j|,

   where l is the last unknown, ε are the errors e with that of the reading among them, and p, A, D, B, tolerance, bend
   and blur are the numbers in the file, exactly. If readings may be off by [more] than stated, the reading's tolerance
   is max (stated + more, 0); if that is more than stated and readings are angles, bend grows by half the difference of
   both squares for each unknown that the reading turns ([widened]). Conditions are Σ c x_i x_j = 0 ([rod_meets]).

   How p, A, … follow from the raw poses of a robot, ρ being what the linear error leaves out, is not stated here.

   Main theorems: [rod_sound] (rows hold of what is consistent), [rod_exhibited] (exhibited values fit) and
   [rod_exhibited_whatever] (they fit whatever ρ is, if only it depends on the errors continuously). *)
Require Import ZArith Reals Lra Lia List Bool Arith.
Require Import Gough.Num Gough.Rows Gough.Vectors Gough.Boxes.
Import ListNotations.
Local Open Scope R_scope.

(* The data and what they mean -------------------------------------------------------------------------------------- *)

Record trio (T : Type) := Trio { o1 : T; o2 : T; o3 : T }.
Arguments Trio {T}. Arguments o1 {T}. Arguments o2 {T}. Arguments o3 {T}.

Definition on_axes {S T} (f : S -> T) (a : trio S) : trio T := Trio (f (o1 a)) (f (o2 a)) (f (o3 a)).
Definition on_both {S T U} (f : S -> T -> U) (a : trio S) (b : trio T) : trio U :=
  Trio (f (o1 a) (o1 b)) (f (o2 a) (o2 b)) (f (o3 a) (o3 b)).

(* One error of a pose: its tolerance, and D and the rows of B. *)
Record error := Error { tolerance : num; dir : trio num; dir_by : trio (list num) }.

(* p and the rows of A, the errors, bend and blur. *)
Record pose := Pose {
  at_rest : trio num;
  by_unknowns : trio (list num);
  errors : list error;
  bend : list num;
  blur : num
}.

(* Σ coefficient · x_i x_j = 0 over its (i, j, coefficient) *)
Definition condition := list (nat * nat * num).

(* [reading] is the place of the reading's error among the errors of each pose; [turns]: readings are angles. *)
Record rod := Rod {
  n_of : nat;
  poses : list pose;
  pairs : list (nat * nat);
  conditions : list condition;
  reading : nat;
  turns : bool
}.

(* p + A x *)
Definition affine (p : trio num) (A : trio (list num)) (x : list R) : vec :=
  Vec (val (o1 p) + rdot (o1 A) x) (val (o2 p) + rdot (o2 A) x) (val (o3 p) + rdot (o3 A) x).

(* Σ_e ε_e (D_e + B_e x) *)
Fixpoint drift (es : list error) (eps : list R) (x : list R) : vec :=
  match es, eps with
  | er :: es', v :: eps' => (v * affine (dir er) (dir_by er) x + drift es' eps' x)%vec
  | _, _ => Vec 0 0 0
  end.

(* The list without its element at place r. *)
Fixpoint without {T} (r : nat) (l : list T) : list T :=
  match r, l with
  | _, [] => []
  | O, _ :: l' => l'
  | S r', a :: l' => a :: without r' l'
  end.

Definition not_zero (v : num) : bool := negb (is_zero v).

Fixpoint either (a b : list bool) : list bool :=
  match a, b with
  | x :: a', y :: b' => (x || y) :: either a' b'
  | [], b => b
  | a, [] => a
  end.

(* The unknowns that the reading turns: those on which B of the reading depends in some pose. *)
Definition turned (r : rod) : list bool :=
  if turns r then
    fold_left (fun flags q =>
      match nth_error (errors q) (reading r) with
      | Some er => either (either (either flags (map not_zero (o1 (dir_by er)))) (map not_zero (o2 (dir_by er))))
                     (map not_zero (o3 (dir_by er)))
      | None => flags
      end) (poses r) []
  else [].

Fixpoint grown (bend : list num) (flags : list bool) (by_ : num) : list num :=
  match bend, flags with
  | b :: bend', f :: flags' => (if f then add b by_ else b) :: grown bend' flags' by_
  | _, _ => bend
  end.

(* The pose with the reading's tolerance [more] than stated. *)
Definition widened (r : nat) (flags : list bool) (more : num) (q : pose) : pose :=
  match nth_error (errors q) r with
  | None => q
  | Some er =>
      let stated := tolerance er in
      let wide := max (add stated more) zero in
      let by_ := mul half (sub (square wide) (square stated)) in
      Pose (at_rest q) (by_unknowns q) (update r (fun e => Error wide (dir e) (dir_by e)) (errors q))
        (if lt stated wide then grown (bend q) flags by_ else bend q) (blur q)
  end.

(* |ε_e| ≤ tolerance_e, an error for each. *)
Definition within_tolerances (es : list error) (eps : list R) : Prop :=
  Forall2 (fun er v => Rabs v <= val (tolerance er)) es eps.

(* The most that |ρ| may be. *)
Definition rest (q : pose) (x : list R) : R := val (blur q) + rdot (bend q) (map Rabs x).

Definition rod_length (r : rod) (x : list R) : R := nth (Nat.pred (n_of r)) x 0.

Definition rod_fits (r : rod) (more : num) (k : nat) (e x : list R) : Prop :=
  exists q eps rho, nth_error (map (widened (reading r) (turned r) more) (poses r)) k = Some q /\
    within_tolerances (errors q) eps /\ without (reading r) eps = e /\ norm rho <= rest q x /\
    norm (affine (at_rest q) (by_unknowns q) x + drift (errors q) eps x + rho) = rod_length r x.

Fixpoint condition_value (c : condition) (x : list R) : R :=
  match c with [] => 0 | (i, j, v) :: c' => val v * (nth i x 0 * nth j x 0) + condition_value c' x end.

Definition rod_meets (r : rod) (x : list R) : Prop := Forall (fun c => condition_value c x = 0) (conditions r).

Definition rod_meaning (r : rod) (more : num) : meaning := Meaning (rod_fits r more) (rod_meets r).

(* Forms: value + linear · h + Σ coefficient · h_i h_j -------------------------------------------------------------- *)

Definition quads := list (nat * nat * num).

Fixpoint qeval (q : quads) (h : list R) : R :=
  match q with [] => 0 | (i, j, v) :: q' => val v * (nth i h 0 * nth j h 0) + qeval q' h end.

Fixpoint add_pair (i j : nat) (v : num) (q : quads) : quads :=
  match q with
  | [] => [(i, j, v)]
  | (a, b, w) :: q' => if Nat.eqb a i && Nat.eqb b j then (a, b, add w v) :: q' else (a, b, w) :: add_pair i j v q'
  end.

Lemma qeval_add_pair i j v q h : qeval (add_pair i j v q) h = qeval q h + val v * (nth i h 0 * nth j h 0).
Proof.
  induction q as [|[[a b] w] q IH]; simpl; [ring|].
  destruct (Nat.eqb_spec a i) as [->|]; destruct (Nat.eqb_spec b j) as [->|]; simpl; rewrite ?IH, ?val_add; ring.
Qed.

(* q + w p *)
Definition add_quads (w : num) (p q : quads) : quads :=
  fold_left (fun q t => let '(i, j, v) := t in add_pair i j (mul w v) q) p q.

Lemma qeval_add_quads w p : forall q h, qeval (add_quads w p q) h = qeval q h + val w * qeval p h.
Proof.
  unfold add_quads. induction p as [|[[i j] v] p IH]; intros q h; simpl; [ring|].
  rewrite IH, qeval_add_pair, val_mul. ring.
Qed.

(* q + a b^T as a form: a_i b_j h_i h_j, the smaller number first *)
Fixpoint outer_row (i : nat) (a : num) (j : nat) (b : list num) (q : quads) : quads :=
  match b with
  | [] => q
  | v :: b' => outer_row i a (S j) b' (if is_zero v then q else add_pair (Nat.min i j) (Nat.max i j) (mul a v) q)
  end.

Fixpoint outer (i : nat) (a b : list num) (q : quads) : quads :=
  match a with [] => q | v :: a' => outer (S i) a' b (if is_zero v then q else outer_row i v 0 b q) end.

Lemma rdot_nil_r a : rdot a [] = 0.
Proof. destruct a; reflexivity. Qed.

Lemma rdot_skip v b j (h : list R) : rdot (v :: b) (skipn j h) = val v * nth j h 0 + rdot b (skipn (S j) h).
Proof.
  revert j. induction h as [|u h IH]; intros [|j].
  - simpl. rewrite rdot_nil_r. ring.
  - simpl. rewrite rdot_nil_r. ring.
  - reflexivity.
  - change (skipn (S j) (u :: h)) with (skipn j h). change (skipn (S (S j)) (u :: h)) with (skipn (S j) h).
    rewrite IH. reflexivity.
Qed.

Lemma qeval_outer_row i a b : forall j q h,
  qeval (outer_row i a j b q) h = qeval q h + val a * nth i h 0 * rdot b (skipn j h).
Proof.
  induction b as [|v b IH]; intros j q h; [simpl; ring|]. rewrite rdot_skip. cbn [outer_row]. rewrite IH.
  destruct (is_zero v) eqn:Z.
  - apply is_zero_spec in Z. rewrite Z. ring.
  - rewrite qeval_add_pair, val_mul. destruct (Nat.le_ge_cases i j).
    + rewrite Nat.min_l, Nat.max_r by assumption. ring.
    + rewrite Nat.min_r, Nat.max_l by assumption. ring.
Qed.

Lemma qeval_outer a b : forall i q h, qeval (outer i a b q) h = qeval q h + rdot a (skipn i h) * rdot b h.
Proof.
  induction a as [|v a IH]; intros i q h; [simpl; ring|]. rewrite rdot_skip. cbn [outer]. rewrite IH.
  destruct (is_zero v) eqn:Z.
  - apply is_zero_spec in Z. rewrite Z. ring.
  - rewrite qeval_outer_row. simpl skipn. ring.
Qed.

Record form := Form { fv : num; fl : list num; fq : quads }.
Definition feval (f : form) (h : list R) : R := val (fv f) + rdot (fl f) h + qeval (fq f) h.

(* u · w for u = a + A h and w = b + B h, axis by axis *)
Definition dot_form (a : trio num) (A : trio (list num)) (b : trio num) (B : trio (list num)) : form :=
  Form (add (add (mul (o1 a) (o1 b)) (mul (o2 a) (o2 b))) (mul (o3 a) (o3 b)))
    (axpy (o1 a) (o1 B) (axpy (o2 a) (o2 B) (axpy (o3 a) (o3 B)
      (axpy (o1 b) (o1 A) (axpy (o2 b) (o2 A) (axpy (o3 b) (o3 A) []))))))
    (outer 0 (o1 A) (o1 B) (outer 0 (o2 A) (o2 B) (outer 0 (o3 A) (o3 B) []))).

Lemma dot_form_spec a A b B h : feval (dot_form a A b B) h = dot (affine a A h) (affine b B h).
Proof.
  unfold feval, dot_form, dot, affine. cbn [fv fl fq x1 x2 x3].
  rewrite !qeval_outer, !rdot_axpy, !val_add, !val_mul. simpl. ring.
Qed.

(* Σ a_j c_j over the a_j that are not 0 *)
Fixpoint sdot (a c : list num) (sum : num) : num :=
  match a, c with
  | v :: a', w :: c' => sdot a' c' (if is_zero v then sum else add sum (mul v w))
  | _, _ => sum
  end.

Lemma sdot_spec a : forall c sum, val (sdot a c sum) = val sum + rdot a (map val c).
Proof.
  induction a as [|v a IH]; intros [|w c] sum; simpl; try ring. rewrite IH. destruct (is_zero v) eqn:Z.
  - apply is_zero_spec in Z. rewrite Z. ring.
  - rewrite val_add, val_mul. ring.
Qed.

(* p + A c *)
Definition at_center (p : trio num) (A : trio (list num)) (c : list num) : trio num :=
  on_both (fun v row => add v (sdot row c zero)) p A.

Lemma rdot_dev a : forall x c, length x = length c -> rdot a x = rdot a (map val c) + rdot a (dev x c).
Proof.
  induction a as [|v a IH]; intros [|u x] [|w c] L; simpl in *; try discriminate; try ring.
  rewrite (IH x c) by lia. ring.
Qed.

Lemma at_center_spec p A x c : length x = length c -> affine p A x = affine (at_center p A c) A (dev x c).
Proof.
  intros L. unfold affine, at_center, on_both; cbn [o1 o2 o3].
  rewrite !val_add, !sdot_spec, val_zero, !(rdot_dev _ x c L). f_equal; ring.
Qed.

(* How far a linear form reaches in a box: Σ |a_j| r_j; and a quadratic one. *)
Definition reach (a r : list num) : num := sdot (map abs a) r zero.

Definition quad_reach (q : quads) (r : list num) (sum : num) : num :=
  fold_left (fun s t => let '(i, j, v) := t in add s (mul (mul (abs v) (nth i r zero)) (nth j r zero))) q sum.

Lemma reach_spec a r h : near r h -> Rabs (rdot a h) <= val (reach a r).
Proof.
  unfold reach. rewrite sdot_spec, val_zero, Rplus_0_l. intros N. revert a.
  induction N as [|b v r h B N IH]; intros [|u a]; simpl; try (rewrite Rabs_R0; lra).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, val_abs. apply Rplus_le_compat; [|apply IH].
  apply Rmult_le_compat_l; [apply Rabs_pos|assumption].
Qed.

Lemma quad_term v i j r h : near r h ->
  Rabs (val v * (nth i h 0 * nth j h 0)) <= Rabs (val v) * val (nth i r zero) * val (nth j r zero).
Proof.
  intros N. rewrite Rabs_mult, Rmult_assoc. apply Rmult_le_compat_l; [apply Rabs_pos|].
  apply product_most; apply near_nth; assumption.
Qed.

Lemma quad_reach_spec q r h : near r h -> forall sum, val sum + Rabs (qeval q h) <= val (quad_reach q r sum).
Proof.
  intros N. unfold quad_reach. induction q as [|[[i j] v] q IH]; intros sum; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [|apply IH]. rewrite val_add, !val_mul, val_abs.
  assert (K := Rabs_triang (val v * (nth i h 0 * nth j h 0)) (qeval q h)). assert (L := quad_term v i j r h N). lra.
Qed.

Definition form_reach (f : form) (r : list num) : num := quad_reach (fq f) r (reach (fl f) r).

Lemma form_reach_spec f r h : near r h -> Rabs (feval f h - val (fv f)) <= val (form_reach f r).
Proof.
  intros N. unfold feval, form_reach. replace (_ - _) with (rdot (fl f) h + qeval (fq f) h) by ring.
  assert (A := Rabs_triang (rdot (fl f) h) (qeval (fq f) h)). assert (B := reach_spec (fl f) r h N).
  assert (C := quad_reach_spec (fq f) r h N (reach (fl f) r)). lra.
Qed.

(* Rows of a pose --------------------------------------------------------------------------------------------------- *)

(* A row from lin · h + quad + errs · errors ≤ side: products that have no column are taken at their worst. *)
Fixpoint index_of (i j : nat) (products : list (nat * nat)) (p : nat) : option nat :=
  match products with
  | [] => None
  | (a, b) :: products' => if Nat.eqb a i && Nat.eqb b j then Some p else index_of i j products' (S p)
  end.

Fixpoint place_quads (n : nat) (products : list (nat * nat)) (r : list num) (q : quads) (a : list num) (s : num) :
    list num * num :=
  match q with
  | [] => (a, s)
  | (i, j, v) :: q' =>
      match index_of i j products 0 with
      | Some p => place_quads n products r q' (add_at (n + p) v a) s
      | None => place_quads n products r q' a (add s (mul (mul (abs v) (nth i r zero)) (nth j r zero)))
      end
  end.

Definition row_of (n : nat) (products : list (nat * nat)) (r : list num) (lin : list num) (q : quads) (errs : list num)
    (side : num) : brow :=
  let (a, s) := place_quads n products r q (firstn n lin) side in BRow a errs s.

Lemma index_of_spec i j products : forall p k, index_of i j products p = Some k ->
  (p <= k)%nat /\ nth_error products (k - p) = Some (i, j).
Proof.
  induction products as [|[a b] ps IH]; intros p k H; simpl in H; [discriminate|].
  destruct (Nat.eqb a i && Nat.eqb b j) eqn:E.
  - injection H as <-. apply andb_true_iff in E. destruct E as [A B]. apply Nat.eqb_eq in A, B. subst.
    rewrite Nat.sub_diag. auto.
  - apply IH in H. destruct H as [L N]. split; [lia|]. replace (k - p)%nat with (S (k - S p)) by lia. assumption.
Qed.

Lemma place_quads_spec products r h : near r h -> forall q a s,
  let (a', s') := place_quads (length h) products r q a s in
  rdot a' (columns products h) - val s' <= rdot a (columns products h) + qeval q h - val s.
Proof.
  intros N. induction q as [|[[i j] v] q IH]; intros a s; [simpl; lra|]. cbn [place_quads qeval].
  destruct (index_of i j products 0) as [p|] eqn:P.
  - apply index_of_spec in P. destruct P as [_ P]. rewrite Nat.sub_0_r in P.
    specialize (IH (add_at (length h + p) v a) s). destruct (place_quads _ _ _ _ _ _) as [a' s'].
    rewrite rdot_add_at, (columns_product _ _ _ _ _ P) in IH. lra.
  - specialize (IH a (add s (mul (mul (abs v) (nth i r zero)) (nth j r zero)))).
    destruct (place_quads _ _ _ _ _ _) as [a' s']. rewrite val_add, !val_mul, val_abs in IH.
    assert (K := quad_term v i j r h N). assert (L := Rle_abs (- (val v * (nth i h 0 * nth j h 0)))).
    rewrite Rabs_Ropp in L. lra.
Qed.

Lemma rdot_firstn_app a : forall h p, rdot (firstn (length h) a) (h ++ p) = rdot a h.
Proof.
  induction a as [|v a IH]; intros [|u h] p; simpl; try reflexivity. rewrite IH. reflexivity.
Qed.

Lemma row_of_holds products r h lin q errs side e : near r h ->
  rdot lin h + qeval q h + rdot errs e <= val side ->
  bholds (row_of (length h) products r lin q errs side) (columns products h) e.
Proof.
  intros N H. unfold row_of. assert (K := place_quads_spec products r h N q (firstn (length h) lin) side).
  destruct (place_quads _ _ _ _ _ _) as [a s]. unfold bholds. cbn [coefs Boxes.errs bside].
  unfold columns in K at 2. rewrite rdot_firstn_app in K. lra.
Qed.

(* What errors that are not shared add at most to 2 u·S, S = Σ ε_e D_e: a form. [du], [dA]: twice u at the center and
   twice A. And how far they move each coordinate of S. *)
Record spread := Spread { sv : num; sl : list num; sq : quads; moved : trio num }.

Definition no_spread : spread := Spread zero [] [] (Trio zero zero zero).

Definition move (t : num) (c r : list num) (er : error) (D : trio num) (m : trio num) : trio num :=
  on_both (fun m f => add m (mul t f)) m (on_both (fun d row => add (abs d) (reach row r)) D (dir_by er)).

Fixpoint own_spread (du : trio num) (dA : trio (list num)) (c r : list num) (es : list error) (s : spread) : spread :=
  match es with
  | [] => s
  | er :: es' =>
      let t := tolerance er in
      if is_zero t then own_spread du dA c r es' s
      else
        let D := at_center (dir er) (dir_by er) c in
        let f := dot_form du dA D (dir_by er) in
        let reached := form_reach f r in
        let (slope, height) := chord (sub (fv f) reached) (add (fv f) reached) in
        let ts := mul t slope in
        own_spread du dA c r es'
          (Spread (add (sv s) (mul t (add (mul slope (fv f)) height))) (axpy ts (fl f) (sl s))
             (add_quads ts (fq f) (sq s))
             (move t c r er D (moved s)))
  end.

(* Errors that are shared: slopes 2 u·D_e at the center, and what 2 u·D_e may differ from that, times tolerances. *)
Fixpoint shared_spread (du : trio num) (dA : trio (list num)) (c r : list num) (es : list error) (g : num)
    (m : trio num) : list num * num * trio num :=
  match es with
  | [] => ([], g, m)
  | er :: es' =>
      let t := tolerance er in
      if is_zero t then let '(slopes, g', m') := shared_spread du dA c r es' g m in (zero :: slopes, g', m')
      else
        let D := at_center (dir er) (dir_by er) c in
        let f := dot_form du dA D (dir_by er) in
        let '(slopes, g', m') :=
          shared_spread du dA c r es' (add g (mul t (form_reach f r))) (move t c r er D m) in
        (fv f :: slopes, g', m')
  end.

Definition square_sum (a : trio num) : num := sum [square (o1 a); square (o2 a); square (o3 a)].

Definition pose_rows (n : nat) (products : list (nat * nat)) (shared : bool) (r : nat) (c rad : list num) (q : pose) :
    option (brow * brow) :=
  match nth_error (errors q) r with
  | None => None
  | Some own =>
      let others := without r (errors q) in
      let A := by_unknowns q in
      let d := at_center (at_rest q) A c in
      let du := on_axes (fun v => add v v) d in
      let dA := on_axes (map (fun v => add v v)) A in
      let l := Nat.pred n in
      let cl := nth l c zero in
      let F := dot_form d A d A in
      let f := sub (fv F) (mul cl cl) in
      let lin := add_at l (neg (add cl cl)) (fl F) in
      let quad := add_pair l l (neg one) (fq F) in
      let s := own_spread du dA c rad (if shared then [own] else own :: others) no_spread in
      let '(slopes, g, m) :=
        if shared then shared_spread du dA c rad others (sv s) (moved s) else ([], sv s, moved s) in
      let left_out := add (blur q) (sdot (bend q) (map (fun v => add (abs (fst v)) (snd v)) (combine c rad)) zero) in
      let far := root_above (square_sum (on_both (fun d row => add (abs d) (reach row rad)) d A)) in
      let g := add g (mul (add far far) left_out) in
      let longest := add (root_above (square_sum m)) left_out in
      let minus := neg one in
      let above := row_of n products rad (axpy minus (sl s) lin) (add_quads minus (sq s) quad) slopes (sub g f) in
      let below := row_of n products rad (axpy minus (sl s) (axpy minus lin []))
                     (add_quads minus (sq s) (add_quads minus quad [])) (map neg slopes)
                     (add (add g f) (square longest)) in
      Some (above, below)
  end.

(* Rows of a condition: exact. *)
Fixpoint condition_form (c : condition) (mid : list num) (v : num) (l : list num) (q : quads) : form :=
  match c with
  | [] => Form v l q
  | (i, j, w) :: c' =>
      let (ci, cj) := (nth i mid zero, nth j mid zero) in
      condition_form c' mid (add v (mul (mul w ci) cj)) (add_at i (mul w cj) (add_at j (mul w ci) l)) (add_pair i j w q)
  end.

Definition condition_rows (n : nat) (products : list (nat * nat)) (mid rad : list num) (c : condition) : brow * brow :=
  let f := condition_form c mid zero [] [] in
  (row_of n products rad (fl f) (fq f) [] (neg (fv f)),
   row_of n products rad (axpy (neg one) (fl f) []) (add_quads (neg one) (fq f) []) [] (fv f)).

(* They hold -------------------------------------------------------------------------------------------------------- *)

Section InABox.
Variables (x : list R) (c r : list num).
Hypothesis same_length : length x = length c.
Let h := dev x c.
Hypothesis in_box : near r h.

Lemma h_length : length h = length c.
Proof. unfold h. rewrite dev_length; assumption. Qed.

Lemma unknown_at i : nth i x 0 = val (nth i c zero) + nth i h 0.
Proof.
  unfold h. clear in_box h. revert c i same_length.
  induction x as [|v xs IH]; intros [|w cs] [|i] L; simpl in *; try discriminate; rewrite ?val_zero; try ring.
  apply IH. lia.
Qed.

Variables (q : pose).
Let u := affine (at_rest q) (by_unknowns q) x.
Let d := at_center (at_rest q) (by_unknowns q) c.
Let du := on_axes (fun v => add v v) d.
Let dA := on_axes (map (fun v => add v v)) (by_unknowns q).

Lemma rdot_double a y : rdot (map (fun v => add v v) a) y = 2 * rdot a y.
Proof. revert y. induction a as [|v a IH]; intros [|z y]; simpl; try ring. rewrite IH, val_add. ring. Qed.

Lemma twice_u : affine du dA h = (2 * u)%vec.
Proof.
  unfold u. rewrite (at_center_spec _ _ x c same_length). fold d h. unfold du, dA, affine, on_axes, scale.
  cbn [o1 o2 o3 x1 x2 x3]. rewrite !rdot_double, !val_add. f_equal; ring.
Qed.

(* The form of an error is 2 u·D_e. *)
Lemma error_form er :
  feval (dot_form du dA (at_center (dir er) (dir_by er) c) (dir_by er)) h = 2 * dot u (affine (dir er) (dir_by er) x).
Proof.
  rewrite dot_form_spec, twice_u, (at_center_spec (dir er) _ x c same_length). fold h.
  unfold dot, scale; cbn [x1 x2 x3]. ring.
Qed.

Definition moved_by (v : vec) (m : trio num) : Prop :=
  Rabs (x1 v) <= val (o1 m) /\ Rabs (x2 v) <= val (o2 m) /\ Rabs (x3 v) <= val (o3 m).

Lemma coordinate v a row : val a + rdot row h = v -> Rabs v <= Rabs (val a) + val (reach row r).
Proof.
  intros <-. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l, reach_spec, in_box.
Qed.

Lemma moved_step a b t m f : Rabs a <= t -> Rabs b <= f -> forall s, Rabs s <= m -> Rabs (a * b + s) <= m + t * f.
Proof.
  intros A B s S. eapply Rle_trans; [apply Rabs_triang|]. assert (K := product_most a b t f A B). lra.
Qed.

Lemma move_spec er e v m : Rabs e <= val (tolerance er) -> moved_by v m ->
  moved_by (e * affine (dir er) (dir_by er) x + v) (move (tolerance er) c r er (at_center (dir er) (dir_by er) c) m).
Proof.
  intros T (M1 & M2 & M3). rewrite (at_center_spec (dir er) _ x c same_length). fold h.
  unfold moved_by, move, affine, vadd, scale, on_both. cbn [o1 o2 o3 x1 x2 x3].
  rewrite !val_add, !val_mul, !val_add, !val_abs.
  split; [|split]; apply moved_step; auto; apply coordinate; reflexivity.
Qed.

Lemma zero_error e t : Rabs e <= val t -> is_zero t = true -> e = 0.
Proof.
  intros H Z. apply is_zero_spec in Z. rewrite Z in H. destruct (Req_dec e 0) as [K|K]; [assumption|].
  apply Rabs_pos_lt in K. lra.
Qed.

Lemma dot_drift w e a b : dot w (e * a + b) = e * dot w a + dot w b.
Proof. unfold dot, vadd, scale; cbn [x1 x2 x3]. ring. Qed.

Lemma vadd_comm a b : (a + b)%vec = (b + a)%vec.
Proof. unfold vadd. f_equal; ring. Qed.

Lemma vadd_assoc a b w : (a + (b + w))%vec = (a + b + w)%vec.
Proof. unfold vadd; cbn [x1 x2 x3]. f_equal; ring. Qed.

(* [s] bounds what errors add whose sum is S0; then own_spread of more errors bounds what all of them add. *)
Definition spread_ok (S0 : vec) (s : spread) : Prop :=
  Rabs (2 * dot u S0) <= val (sv s) + rdot (sl s) h + qeval (sq s) h /\ moved_by S0 (moved s).

Lemma own_spread_spec es : forall eps S0 s, within_tolerances es eps -> spread_ok S0 s ->
  spread_ok (drift es eps x + S0) (own_spread du dA c r es s).
Proof.
  induction es as [|er es IH]; intros eps S0 s T S; inversion T as [|? e ? eps' E T']; subst; simpl drift.
  - cbn [own_spread]. replace (Vec 0 0 0 + S0)%vec with S0; [assumption|].
    destruct S0. unfold vadd; simpl. f_equal; ring.
  - rewrite (vadd_comm (e * _)%vec), <- vadd_assoc. cbn [own_spread]. destruct (is_zero (tolerance er)) eqn:Z.
    + rewrite (zero_error _ _ E Z). apply IH; [assumption|].
      replace (0 * _ + S0)%vec with S0; [assumption|]. destruct S0. unfold vadd, scale; simpl. f_equal; ring.
    + set (f := dot_form du dA _ _). assert (Ef := error_form er). fold f in Ef.
      assert (Rf := form_reach_spec f r h in_box). set (v := 2 * dot u (affine (dir er) (dir_by er) x)) in *.
      rewrite Ef in Rf.
      assert (Cf : Rabs v <= val (fst (chord (sub (fv f) (form_reach f r)) (add (fv f) (form_reach f r)))) * v +
                             val (snd (chord (sub (fv f) (form_reach f r)) (add (fv f) (form_reach f r))))).
      { apply chord_holds. rewrite val_sub, val_add. assert (Rf1 := Rle_abs (v - val (fv f))).
        assert (Rf2 := Rle_abs (- (v - val (fv f)))). rewrite Rabs_Ropp in Rf2. lra. }
      destruct (chord _ _) as [slope height]. cbn [fst snd] in Cf. apply IH; [assumption|].
      destruct S as [S M]. split; [|apply move_spec; assumption]. cbn [sv sl sq].
      rewrite rdot_axpy, qeval_add_quads, val_add, !val_mul, val_add, val_mul.
      rewrite dot_drift. replace (2 * (e * _ + dot u S0)) with (e * v + 2 * dot u S0) by (unfold v; ring).
      assert (P := product_most e v _ _ E Cf). assert (Q := Rabs_triang (e * v) (2 * dot u S0)).
      assert (W : val (tolerance er) * (val slope * v + val height) =
        val (tolerance er) * (val slope * val (fv f) + val height) + val (tolerance er) * val slope * rdot (fl f) h +
        val (tolerance er) * val slope * qeval (fq f) h) by (rewrite <- Ef; unfold feval; ring).
      lra.
Qed.

Lemma shared_spread_spec es : forall eps S0 g m slopes g' m',
  within_tolerances es eps -> moved_by S0 m -> shared_spread du dA c r es g m = (slopes, g', m') ->
  Rabs (2 * dot u (drift es eps x) - rdot slopes eps) <= val g' - val g /\ moved_by (drift es eps x + S0) m'.
Proof.
  induction es as [|er es IH]; intros eps S0 g m slopes g' m' T M H; inversion T as [|? e ? eps' E T']; subst;
    cbn [shared_spread] in H; cbv zeta in H.
  - injection H as <- <- <-. simpl. split.
    + replace (2 * _ - 0) with 0 by (unfold dot; simpl; ring). rewrite Rabs_R0. lra.
    + replace (Vec 0 0 0 + S0)%vec with S0; [assumption|]. destruct S0. unfold vadd; simpl. f_equal; ring.
  - simpl drift. rewrite (vadd_comm (e * _)%vec), <- vadd_assoc. destruct (is_zero (tolerance er)) eqn:Z.
    + destruct (shared_spread du dA c r es g m) as [[sl gg] mm] eqn:K. injection H as <- <- <-.
      rewrite (zero_error _ _ E Z).
      assert (L := IH eps' S0 g m sl gg mm T' M K). destruct L as [L1 L2]. split.
      * simpl rdot. rewrite vadd_comm, dot_drift. match goal with |- Rabs ?a <= _ => replace a with
          (2 * dot u (drift es eps' x) - rdot sl eps') by ring end. assumption.
      * replace (0 * _ + S0)%vec with S0; [assumption|]. destruct S0. unfold vadd, scale; simpl. f_equal; ring.
    + set (f := dot_form du dA _ _) in *. assert (Ef := error_form er). fold f in Ef.
      assert (Rf := form_reach_spec f r h in_box). rewrite Ef in Rf. clearbody f.
      destruct (shared_spread du dA c r es _ _) as [[sl gg] mm] eqn:K. injection H as <- <- <-.
      assert (L := IH eps' _ _ _ sl gg mm T' (move_spec er e S0 m E M) K). destruct L as [L1 L2]. split; [|exact L2].
      change (rdot (fv f :: sl) (e :: eps')) with (val (fv f) * e + rdot sl eps').
      rewrite vadd_comm, dot_drift. rewrite val_add, val_mul in L1.
      match goal with |- Rabs ?a <= _ => replace a with
        (e * (2 * dot u (affine (dir er) (dir_by er) x) - val (fv f)) + (2 * dot u (drift es eps' x) - rdot sl eps'))
        by ring end.
      assert (P := product_most _ _ _ _ E Rf).
      eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(* The squared length of u + S + ρ, from both sides; σ is what is left of 2 u·S in columns of errors. *)
Lemma squared_length S rho l sigma G far left_out longest :
  norm (u + S + rho) = l -> norm u <= far -> norm rho <= left_out -> norm S <= longest ->
  Rabs (2 * dot u S - sigma) <= G ->
  dot u u - l * l + sigma <= G + 2 * far * left_out /\
  - (dot u u - l * l) - sigma <= G + 2 * far * left_out + (longest + left_out) * (longest + left_out).
Proof.
  intros L U P M H. assert (L2 : dot (u + S + rho) (u + S + rho) = l * l) by (rewrite <- L; symmetry; apply norm_sq).
  assert (X : dot (u + S + rho) (u + S + rho) = dot u u + 2 * dot u S + 2 * dot u rho + dot (S + rho) (S + rho))
    by (unfold dot, vadd; simpl; ring).
  assert (W := dot_pos (S + rho)). assert (W2 : dot (S + rho) (S + rho) <= (longest + left_out) * (longest + left_out)).
  { rewrite <- norm_sq. apply squares_le; [apply norm_pos|]. assert (K := norm_triangle S rho). lra. }
  assert (C := cauchy_schwarz u rho).
  assert (norm u * norm rho <= far * left_out) by (apply Rmult_le_compat; try apply norm_pos; assumption).
  assert (A1 := Rle_abs (dot u rho)). assert (A2 := Rle_abs (- dot u rho)). rewrite Rabs_Ropp in A2.
  assert (B1 := Rle_abs (2 * dot u S - sigma)). assert (B2 := Rle_abs (- (2 * dot u S - sigma))).
  rewrite Rabs_Ropp in B2. split; lra.
Qed.

Lemma moved_norm v m : moved_by v m -> norm v <= val (root_above (square_sum m)).
Proof.
  intros M. apply within_norm with (t := Vec (val (o1 m)) (val (o2 m)) (val (o3 m))).
  - exact M.
  - apply root_above_nonneg.
  - eapply Rle_trans; [|apply root_above_spec]. unfold square_sum, dot. rewrite val_sum; cbn [x1 x2 x3 map fold_right].
    rewrite !val_square. lra.
Qed.

Lemma far_norm :
  norm u <= val (root_above (square_sum (on_both (fun d row => add (abs d) (reach row r)) d (by_unknowns q)))).
Proof.
  apply moved_norm. unfold u. rewrite (at_center_spec _ _ x c same_length). fold h. fold d.
  unfold moved_by, on_both, affine. cbn [o1 o2 o3 x1 x2 x3]. rewrite !val_add, !val_abs.
  split; [|split]; apply coordinate; reflexivity.
Qed.

Lemma bent b : Forall (fun v => 0 <= val v) b ->
  rdot b (map Rabs x) <= val (sdot b (map (fun v => add (abs (fst v)) (snd v)) (combine c r)) zero).
Proof.
  intros B. rewrite sdot_spec, val_zero, Rplus_0_l. unfold h in in_box. clear h u d du dA. revert r c b same_length
    in_box B.
  induction x as [|v xs IH]; intros [|w rs] [|m cs] b L N B; simpl in *; try discriminate;
    try (inversion N; fail); destruct b as [|bj b]; simpl; try lra.
  inversion N as [|? ? ? ? N1 N2]; subst. inversion B as [|? ? B1 B2]; subst.
  assert (K := IH rs cs b ltac:(lia) N2 B2). rewrite val_add, val_abs.
  assert (Rabs v <= Rabs (val m) + val w).
  { replace v with (val m + (v - val m)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (val bj * Rabs v <= val bj * (Rabs (val m) + val w)) by (apply Rmult_le_compat_l; assumption). lra.
Qed.

Lemma drift_without p own : forall es eps, nth_error es p = Some own -> within_tolerances es eps ->
  exists e, Rabs e <= val (tolerance own) /\ within_tolerances (without p es) (without p eps) /\
    drift es eps x = (e * affine (dir own) (dir_by own) x + drift (without p es) (without p eps) x)%vec.
Proof.
  induction p as [|p IH]; intros [|er es] eps P T; simpl in P; try discriminate;
    inversion T as [|? e ? eps' E T']; subst.
  - injection P as ->. exists e. auto.
  - destruct (IH es eps' P T') as (e' & A & B & C). exists e'. simpl. split; [assumption|]. split.
    + constructor; assumption.
    + rewrite C. unfold vadd, scale; simpl. f_equal; ring.
Qed.

Lemma rdot_neg a : forall y, rdot (map neg a) y = - rdot a y.
Proof. induction a as [|v a IH]; intros [|z y]; simpl; try ring. rewrite IH, val_neg. ring. Qed.

Lemma pose_rows_hold n products shared p eps rho above below :
  n = length c -> Forall (fun v => 0 <= val v) (bend q) ->
  within_tolerances (errors q) eps -> norm rho <= rest q x ->
  norm (u + drift (errors q) eps x + rho) = nth (Nat.pred n) x 0 ->
  pose_rows n products shared p c r q = Some (above, below) ->
  bholds above (columns products h) (without p eps) /\ bholds below (columns products h) (without p eps).
Proof.
  intros Hn B T P L H. unfold pose_rows in H.
  destruct (nth_error (errors q) p) as [own|] eqn:O; [|discriminate].
  destruct (drift_without p own _ _ O T) as (e0 & E0 & T0 & D0).
  cbv zeta in H. fold d in H. fold du dA in H. set (others := without p (errors q)) in *. set (e := without p eps) in *.
  set (S := drift (errors q) eps x) in *.
  set (s := own_spread du dA c r (if shared then [own] else own :: others) no_spread) in *.
  set (cl := nth (Nat.pred n) c zero) in *. set (hl := nth (Nat.pred n) h 0).
  assert (Hl : nth (Nat.pred n) x 0 = val cl + hl) by apply unknown_at.
  set (F := dot_form d (by_unknowns q) d (by_unknowns q)) in *.
  assert (FE : feval F h = dot u u).
  { unfold F. rewrite dot_form_spec. unfold u. rewrite (at_center_spec _ _ x c same_length). reflexivity. }
  assert (OK0 : spread_ok (Vec 0 0 0) no_spread).
  { split; unfold no_spread, moved_by; cbn [sv sl sq moved o1 o2 o3 x1 x2 x3]; rewrite ?val_zero, ?Rabs_R0; [|lra].
    replace (2 * _) with 0 by (unfold dot; simpl; ring). rewrite Rabs_R0. simpl. lra. }
  (* both kinds of columns for errors *)
  assert (Both : exists slopes g m,
    (if shared then shared_spread du dA c r others (sv s) (moved s) else ([], sv s, moved s)) = (slopes, g, m) /\
    Rabs (2 * dot u S - rdot slopes e) <= val g + rdot (sl s) h + qeval (sq s) h /\ moved_by S m).
  { destruct shared.
    - destruct (shared_spread du dA c r others (sv s) (moved s)) as [[slopes g] m] eqn:K.
      exists slopes, g, m. split; [reflexivity|].
      assert (Own := own_spread_spec [own] [e0] (Vec 0 0 0) no_spread
        ltac:(constructor; [assumption|constructor]) OK0). fold s in Own. destruct Own as [Own1 Own2].
      destruct (shared_spread_spec others e _ _ _ _ _ _ T0 Own2 K) as [Sh1 Sh2].
      assert (Sum : S = (drift others e x + (drift [own] [e0] x + Vec 0 0 0))%vec).
      { rewrite D0. unfold vadd, scale; simpl. f_equal; ring. }
      split; [|rewrite Sum; exact Sh2].
      replace (2 * dot u S - rdot slopes e) with
        ((2 * dot u (drift others e x) - rdot slopes e) + 2 * dot u (drift [own] [e0] x + Vec 0 0 0)%vec)
        by (rewrite Sum; unfold dot, vadd; simpl; ring).
      eapply Rle_trans; [apply Rabs_triang|]. lra.
    - exists [], (sv s), (moved s). split; [reflexivity|].
      assert (Own := own_spread_spec (own :: others) (e0 :: e) (Vec 0 0 0) no_spread
        ltac:(constructor; assumption) OK0). fold s in Own. destruct Own as [Own1 Own2].
      assert (Sum : S = (drift (own :: others) (e0 :: e) x + Vec 0 0 0)%vec).
      { rewrite D0. unfold vadd, scale; simpl. f_equal; ring. }
      rewrite Sum, rdot_nil, Rminus_0_r. split; assumption. }
  destruct Both as (slopes & g & m & Sh & Both & Mv). rewrite Sh in H.
  set (left_out := add (blur q) _) in *. set (far := root_above _) in *.
  assert (Lo : norm rho <= val left_out).
  { eapply Rle_trans; [exact P|]. unfold left_out, rest. rewrite val_add. assert (K := bent (bend q) B). lra. }
  assert (Far : norm u <= val far) by apply far_norm.
  destruct (squared_length S rho _ (rdot slopes e) _ (val far) (val left_out) (val (root_above (square_sum m)))
    L Far Lo (moved_norm _ _ Mv) Both) as [Up Down].
  clearbody left_out far s F. rewrite Hl in Up, Down. unfold feval in FE.
  assert (Hh : hl = nth (Nat.pred (length h)) h 0) by (unfold hl; rewrite Hn, h_length; reflexivity).
  clearbody hl cl. rewrite Hn, <- h_length in H.
  injection H as <- <-. split; apply row_of_holds; try assumption.
  - rewrite rdot_axpy, qeval_add_quads, rdot_add_at, qeval_add_pair, !val_sub, !val_add, !val_mul, !val_neg, !val_add,
      val_one. rewrite <- Hh. lra.
  - rewrite rdot_neg, !rdot_axpy, !qeval_add_quads, rdot_add_at, qeval_add_pair, !val_add, val_square, !val_add,
    !val_sub,
      !val_mul, !val_neg, !val_add, val_one. rewrite <- Hh. simpl rdot. simpl qeval. lra.
Qed.

Lemma condition_form_spec cond : forall v l qs,
  feval (condition_form cond c v l qs) h = feval (Form v l qs) h + condition_value cond x.
Proof.
  induction cond as [|[[i j] w] cond IH]; intros v l qs; cbn [condition_form condition_value]; [ring|].
  rewrite IH. unfold feval; cbn [fv fl fq]. rewrite !rdot_add_at, qeval_add_pair, val_add, !val_mul, (unknown_at i),
    (unknown_at j). ring.
Qed.

Lemma condition_rows_hold n products cond e : n = length c -> condition_value cond x = 0 ->
  bholds (fst (condition_rows n products c r cond)) (columns products h) e /\
  bholds (snd (condition_rows n products c r cond)) (columns products h) e.
Proof.
  intros -> V. assert (K := condition_form_spec cond zero [] []). rewrite V in K. unfold condition_rows.
  set (f := condition_form cond c zero [] []) in *. clearbody f. unfold feval in K. cbn [fv fl fq] in K.
  rewrite val_zero in K. simpl in K. rewrite <- h_length. cbn [fst snd].
  split; apply row_of_holds; try assumption; rewrite ?rdot_axpy, ?qeval_add_quads, ?val_neg, ?val_one;
    simpl rdot; simpl qeval; lra.
Qed.
End InABox.

(* The chain -------------------------------------------------------------------------------------------------------- *)

Definition rod_tolerances (r : rod) : list (list num) :=
  map (fun q => map tolerance (without (reading r) (errors q))) (poses r).

Definition rod_chain (r : rod) (more : num) : chain :=
  let flags := turned r in
  let equations := map inl (poses r) ++ map inr (conditions r) in
  Chain (n_of r) (pairs r) (length (poses r)) (length (conditions r)) (rod_tolerances r)
    (fun c rad shared used =>
      tabulate (fun eq =>
        match eq with
        | inl q => pose_rows (n_of r) (pairs r) shared (reading r) c rad (widened (reading r) flags more q)
        | inr cond => Some (condition_rows (n_of r) (pairs r) c rad cond)
        end) used equations).

(* Shapes are as they should be, and nothing is negative that must not be. Only that bend is not negative matters to the
   proof; the rest makes the statement what it is read as. *)
Definition of_size {A} (n : nat) (l : list A) : bool := Nat.eqb (length l) n.
Definition rows_of_size {A} (n : nat) (t : trio (list A)) : bool :=
  of_size n (o1 t) && of_size n (o2 t) && of_size n (o3 t).

Definition good_pose (n n_errors : nat) (q : pose) : bool :=
  rows_of_size n (by_unknowns q) && of_size n_errors (errors q) && of_size n (bend q) &&
  forallb (fun er => rows_of_size n (dir_by er) && negb (is_neg (tolerance er))) (errors q) &&
  forallb (fun v => negb (is_neg v)) (bend q) && negb (is_neg (blur q)).

Definition good_pair (n : nat) (ij : nat * nat) : bool := Nat.leb (fst ij) (snd ij) && Nat.ltb (snd ij) n.

Fixpoint different (l : list (nat * nat)) : bool :=
  match l with
  | [] => true
  | (i, j) :: l' => negb (existsb (fun ab => Nat.eqb i (fst ab) && Nat.eqb j (snd ab)) l') && different l'
  end.

Definition good_condition (n : nat) (c : condition) : bool :=
  match c with [] => false | _ => true end && forallb (good_pair n) (map fst c) && different (map fst c) &&
  forallb (fun t => negb (is_zero (snd t))) c.

Definition good_rod (r : rod) : bool :=
  let n_errors := match poses r with q :: _ => length (errors q) | [] => O end in
  match poses r with [] => false | _ => true end && Nat.ltb 0 (n_of r) && Nat.ltb (reading r) n_errors &&
  forallb (good_pose (n_of r) n_errors) (poses r) && forallb (good_pair (n_of r)) (pairs r) && different (pairs r) &&
  forallb (good_condition (n_of r)) (conditions r).

Lemma without_update {A} p (f : A -> A) : forall l, without p (update p f l) = without p l.
Proof. induction p as [|p IH]; intros [|a l]; simpl; try reflexivity. rewrite IH. reflexivity. Qed.

Lemma without_widened p flags more q : without p (errors (widened p flags more q)) = without p (errors q).
Proof.
  unfold widened. destruct (nth_error (errors q) p); [|reflexivity]. simpl. apply without_update.
Qed.

Lemma without_tolerances p : forall es eps, within_tolerances es eps ->
  tolerated (map tolerance (without p es)) (without p eps).
Proof.
  unfold tolerated. induction p as [|p IH]; intros es eps H; inversion H as [|er e es' eps' E T]; subst; simpl.
  - constructor.
  - clear H E. induction T; simpl; constructor; auto.
  - constructor.
  - constructor; [assumption|]. apply IH; assumption.
Qed.

Lemma widened_bend p flags more q : Forall (fun v => 0 <= val v) (bend q) ->
  forallb (fun er => negb (is_neg (tolerance er))) (errors q) = true ->
  Forall (fun v => 0 <= val v) (bend (widened p flags more q)).
Proof.
  intros B T. unfold widened. destruct (nth_error (errors q) p) as [er|] eqn:E; [|assumption]. cbn [bend].
  destruct (lt _ _) eqn:L; [|assumption]. apply lt_spec in L.
  assert (S : 0 <= val (tolerance er)).
  { apply nth_error_In in E. rewrite forallb_forall in T. apply T in E. apply negb_true_iff in E.
    apply is_neg_false in E. assumption. }
  match goal with |- Forall _ (grown _ _ ?b) => set (by_ := b) end.
  assert (K : 0 <= val by_).
  { unfold by_. rewrite val_mul, val_half, val_sub, !val_square.
    assert (val (tolerance er) * val (tolerance er) <=
      val (max (add (tolerance er) more) zero) * val (max (add (tolerance er) more) zero))
      by (apply squares_le; lra). lra. }
  clearbody by_. clear - B K. revert flags. induction B as [|b l H B IH]; intros [|f flags]; simpl; constructor; auto.
  destruct f; [rewrite val_add; lra|assumption].
Qed.

(* Rows of a chain over a rod hold of whatever is consistent with its equations. *)
Theorem rod_sound r more : good_rod r = true -> sound (rod_chain r more) (rod_meaning r more).
Proof.
  intros G. split.
  - intros k e x (q & eps & rho & Q & T & <- & _). cbn [tolerances rod_chain]. unfold rod_tolerances.
    rewrite nth_error_map in Q. destruct (nth_error (poses r) k) as [q0|] eqn:Q0; [|discriminate]. injection Q as <-.
    erewrite nth_error_nth; [|rewrite nth_error_map, Q0; reflexivity].
    apply without_tolerances with (p := reading r) in T. rewrite without_widened in T. exact T.
  - intros c rad shared used k above below e x H Lx Lc N F M. cbn [n_unknowns n_poses products rod_chain] in *.
    cbn [table rod_chain] in H. apply tabulate_spec in H. destruct H as (eq & Eq & H).
    assert (Lxc : length x = length c) by congruence.
    destruct (Nat.lt_ge_cases k (length (poses r))) as [K|K].
    + rewrite nth_error_app1 in Eq by (rewrite map_length; assumption). rewrite nth_error_map in Eq.
      destruct (nth_error (poses r) k) as [q0|] eqn:Q0; [|discriminate]. injection Eq as <-.
      destruct (F K) as (q & eps & rho & Q & T & <- & P & L). rewrite nth_error_map, Q0 in Q. injection Q as <-.
      assert (B : Forall (fun v => 0 <= val v) (bend (widened (reading r) (turned r) more q0)));
        [|exact (pose_rows_hold x c rad Lxc N _ (n_of r) (pairs r) shared (reading r) eps rho above below (eq_sym Lc) B
          T P L H)].
      apply nth_error_In in Q0. unfold good_rod in G. repeat rewrite andb_true_iff in G.
      destruct G as [[[[_ G] _] _] _]. rewrite forallb_forall in G. apply G in Q0. unfold good_pose in Q0.
      repeat rewrite andb_true_iff in Q0. destruct Q0 as [[[_ G1] G2] _]. apply widened_bend.
      * apply Forall_forall. intros v V. rewrite forallb_forall in G2. apply G2 in V. apply negb_true_iff in V.
        apply is_neg_false in V. assumption.
      * apply forallb_forall. intros er V. rewrite forallb_forall in G1. apply G1 in V.
        apply andb_true_iff in V. apply V.
    + rewrite nth_error_app2 in Eq by (rewrite map_length; assumption). rewrite map_length, nth_error_map in Eq.
      destruct (nth_error (conditions r) (k - length (poses r))) as [cond|] eqn:C; [|discriminate].
      injection Eq as <-.
      assert (H' : condition_rows (n_of r) (pairs r) c rad cond = (above, below)) by (clear - H; congruence).
      assert (V : condition_value cond x = 0).
      { specialize (M K). cbn [meets rod_meaning] in M. unfold rod_meets in M. rewrite Forall_forall in M.
        apply M. eapply nth_error_In; eauto. }
      assert (R := condition_rows_hold x c rad Lxc N (n_of r) (pairs r) cond e (eq_sym Lc) V).
      rewrite H' in R. exact R.
Qed.

(* Exhibited values ------------------------------------------------------------------------------------------------- *)

(* What is free, all errors or the reading's only, is moved against d and along it. At one end the rod is at least as
   long as the distance, at the other at most, whatever ρ is; so in between both are equal, because ρ depends on the
   errors continuously.

   [rod_fits_whatever] is this stronger statement: whatever the rest ρ is as a continuous function of the errors, and
   within its bound, there are errors for which the equation holds. [rod_fits] follows, with ρ = 0. ρ is taken as
   continuous along every line of errors; a continuous function on the box of tolerances extends to such a function. *)

Fixpoint line (a b : list R) (s : R) : list R :=
  match a, b with u :: a', v :: b' => u + s * v :: line a' b' s | _, _ => [] end.

Definition continuous (rho : list R -> vec) : Prop := forall a b,
  continuity (fun s => x1 (rho (line a b s))) /\ continuity (fun s => x2 (rho (line a b s))) /\
  continuity (fun s => x3 (rho (line a b s))).

(* [e] are the errors of the pose; None: some errors. *)
Definition rod_fits_whatever (r : rod) (more : num) (k : nat) (e : option (list R)) (x : list R) : Prop :=
  exists q, nth_error (map (widened (reading r) (turned r) more) (poses r)) k = Some q /\
  forall rho, continuous rho -> (forall eps, within_tolerances (errors q) eps -> norm (rho eps) <= rest q x) ->
  exists eps, within_tolerances (errors q) eps /\ (forall v, e = Some v -> without (reading r) eps = v) /\
    norm (affine (at_rest q) (by_unknowns q) x + drift (errors q) eps x + rho eps) = rod_length r x.

Definition vval (t : trio num) : vec := Vec (val (o1 t)) (val (o2 t)) (val (o3 t)).

Definition affine_at (p : trio num) (A : trio (list num)) (x : list num) : trio num :=
  on_both (fun v row => reduce (add v (sdot row x zero))) p A.

Definition add_scaled (k : num) (a b : trio num) : trio num := on_both (fun u v => add v (mul k u)) a b.

(* The place of the reading is free; other errors are as shown, or free. *)
Fixpoint insert {A} (p : nat) (v : A) (l : list A) : list A :=
  match p, l with S p', a :: l' => a :: insert p' v l' | _, _ => v :: l end.

(* d with the known errors, which must be within their tolerances. *)
Fixpoint with_known (es : list error) (known : list (option num)) (x : list num) (d : trio num) : option (trio num) :=
  match es, known with
  | [], [] => Some d
  | er :: es', Some v :: known' =>
      if le (abs v) (tolerance er) then with_known es' known' x (add_scaled v (affine_at (dir er) (dir_by er) x) d)
        else None
  | er :: es', None :: known' => if is_neg (tolerance er) then None else with_known es' known' x d
  | _, _ => None
  end.

Definition dot_of (a b : trio num) : num := sum [mul (o1 a) (o1 b); mul (o2 a) (o2 b); mul (o3 a) (o3 b)].

Definition sign (v : num) : num := if is_pos v then one else if is_neg v then neg one else zero.

(* The free errors that go along d. *)
Fixpoint along (es : list error) (known : list (option num)) (x : list num) (d : trio num) : list num :=
  match es, known with
  | er :: es', Some _ :: known' => zero :: along es' known' x d
  | er :: es', None :: known' =>
      mul (sign (dot_of d (affine_at (dir er) (dir_by er) x))) (tolerance er) :: along es' known' x d
  | _, _ => []
  end.

Fixpoint drift_at (es : list error) (eps : list num) (x : list num) (m : trio num) : trio num :=
  match es, eps with
  | er :: es', v :: eps' =>
      drift_at es' eps' x (if is_zero v then m else add_scaled v (affine_at (dir er) (dir_by er) x) m)
  | _, _ => m
  end.

Definition known_errors (r : rod) (n_errors : nat) (shown : option (list num)) : list (option num) :=
  match shown with
  | Some l => insert (reading r) None (map Some l)
  | None => repeat None n_errors
  end.

Definition rod_shows (r : rod) (more : num) : nat -> list num -> option (list num) -> bool :=
  let flags := turned r in
  fun k x shown =>
  match nth_error (poses r) k with
  | None => false
  | Some q0 =>
      let q := widened (reading r) flags more q0 in
      let es := errors q in
      let known := known_errors r (length es) shown in
      let l := nth (Nat.pred (n_of r)) x zero in
      let left_out := add (blur q) (sdot (bend q) (map abs x) zero) in
      match shown with Some s => Nat.leb (reading r) (length s) | None => true end &&
      match with_known es known x (affine_at (at_rest q) (by_unknowns q) x) with
      | None => false
      | Some d =>
          let m := drift_at es (along es known x d) x (Trio zero zero zero) in
          let near := square_sum (on_both sub d m) in
          let far := square_sum (on_both add d m) in
          le left_out l && le near (square (sub l left_out)) && le (square (add l left_out)) far
      end
  end.

Lemma affine_at_spec p A x : vval (affine_at p A x) = affine p A (map val x).
Proof.
  unfold vval, affine_at, affine, on_both; cbn [o1 o2 o3]. rewrite !val_reduce, !val_add, !sdot_spec, val_zero.
  f_equal; ring.
Qed.

Lemma add_scaled_spec k a b : vval (add_scaled k a b) = (val k * vval a + vval b)%vec.
Proof.
  unfold vval, add_scaled, on_both, vadd, scale; cbn [o1 o2 o3 x1 x2 x3]. rewrite !val_add, !val_mul. f_equal; ring.
Qed.

Lemma drift_at_spec es : forall eps x m,
  vval (drift_at es eps x m) = (drift es (map val eps) (map val x) + vval m)%vec.
Proof.
  induction es as [|er es IH]; intros [|v eps] x m; cbn [drift_at drift map];
    try (unfold vadd, vval; simpl; f_equal; ring).
  rewrite IH. destruct (is_zero v) eqn:Z.
  - apply is_zero_spec in Z. rewrite Z. unfold vadd, scale; simpl. f_equal; ring.
  - rewrite add_scaled_spec, affine_at_spec. unfold vadd, scale; simpl. f_equal; ring.
Qed.

Definition known_or_zero (k : option num) : num := match k with Some v => v | None => zero end.

Lemma with_known_spec es : forall known x d d', with_known es known x d = Some d' ->
  vval d' = (drift es (map val (map known_or_zero known)) (map val x) + vval d)%vec.
Proof.
  induction es as [|er es IH]; intros [|[v|] known] x d d' H; simpl in H; try discriminate.
  - injection H as <-. unfold vadd, vval; simpl. f_equal; ring.
  - destruct (le (abs v) (tolerance er)); [|discriminate]. apply IH in H. rewrite H, add_scaled_spec, affine_at_spec.
    simpl. unfold vadd, scale; simpl. f_equal; ring.
  - destruct (is_neg (tolerance er)); [discriminate|]. apply IH in H. rewrite H.
    simpl. rewrite val_zero. unfold vadd, scale; simpl. f_equal; ring.
Qed.

Lemma sign_most v : Rabs (val (sign v)) <= 1.
Proof.
  unfold sign. destruct (is_pos v); [|destruct (is_neg v)]; rewrite ?val_neg, ?val_one, ?val_zero;
    apply Rabs_le; lra.
Qed.

Lemma line_within es : forall known x d0 d d' s, -1 <= s <= 1 -> with_known es known x d = Some d' ->
  within_tolerances es (line (map val (map known_or_zero known)) (map val (along es known x d0)) s).
Proof.
  induction es as [|er es IH]; intros [|[v|] known] x d0 d d' s S H; simpl in H; try discriminate; simpl; constructor;
    destruct (le (abs v) (tolerance er)) eqn:T || destruct (is_neg (tolerance er)) eqn:T; try discriminate;
    try (eapply IH; eauto; fail).
  - apply le_spec in T. rewrite val_abs in T. rewrite val_zero, Rmult_0_r, Rplus_0_r. assumption.
  - apply is_neg_false in T. rewrite val_zero, val_mul, Rplus_0_l, <- Rmult_assoc.
    rewrite Rabs_mult, (Rabs_pos_eq (val (tolerance er))) by assumption.
    rewrite <- (Rmult_1_l (val (tolerance er))) at 2. apply Rmult_le_compat_r; [assumption|].
    replace 1 with (1 * 1) by ring. apply product_most; [apply Rabs_le; lra|apply sign_most].
Qed.

Lemma drift_line es : forall a b x s, length a = length b ->
  drift es (line a b s) x = (drift es a x + s * drift es b x)%vec.
Proof.
  induction es as [|er es IH]; intros [|u a] [|v b] x s L; simpl in *; try discriminate;
    try (unfold vadd, scale; simpl; f_equal; ring).
  rewrite IH by lia. unfold vadd, scale; simpl. f_equal; ring.
Qed.

Lemma along_length es : forall known x d d' d0, with_known es known x d = Some d' ->
  length (along es known x d0) = length known.
Proof.
  induction es as [|er es IH]; intros [|[v|] known] x d d' d0 H; simpl in *; try discriminate; auto;
    (destruct (le _ _) || destruct (is_neg _)); try discriminate; erewrite IH; eauto.
Qed.

Lemma shown_line p : forall es l x d0 s, (p <= length l)%nat -> length es = S (length l) ->
  without p (line (map val (map known_or_zero (insert p None (map Some l))))
               (map val (along es (insert p None (map Some l)) x d0)) s) = map val l.
Proof.
  assert (Base : forall es l x d0 s, length es = length l ->
    line (map val (map known_or_zero (map Some l))) (map val (along es (map Some l) x d0)) s = map val l).
  { induction es as [|er es IH]; intros [|v l] x d0 s L; simpl in *; try discriminate; auto.
    rewrite IH by lia. rewrite val_zero. f_equal. ring. }
  induction p as [|p IH]; intros [|er es] [|v l] x d0 s P L; simpl in *; try discriminate; try lia.
  - destruct es; [reflexivity|discriminate].
  - apply (Base es (v :: l)). simpl. lia.
  - rewrite IH by lia. rewrite val_zero. f_equal. ring.
Qed.

Lemma with_known_length es : forall known x d d', with_known es known x d = Some d' -> length es = length known.
Proof.
  induction es as [|er es IH]; intros [|[v|] known] x d d' H; simpl in *; try discriminate; auto;
    (destruct (le _ _) || destruct (is_neg _)); try discriminate; erewrite IH; eauto.
Qed.

Lemma insert_length {A} p (v : A) : forall l, length (insert p v l) = S (length l).
Proof. induction p as [|p IH]; intros [|a l]; simpl; auto. Qed.

(* A vector that moves continuously from within the length l to beyond it has it somewhere. *)
Lemma between_lengths (d m : vec) (rho : R -> vec) (l left_out : R) :
  continuity (fun s => x1 (rho s)) -> continuity (fun s => x2 (rho s)) -> continuity (fun s => x3 (rho s)) ->
  (forall s, -1 <= s <= 1 -> norm (rho s) <= left_out) -> left_out <= l ->
  dot (d - m) (d - m) <= (l - left_out) * (l - left_out) -> (l + left_out) * (l + left_out) <= dot (d + m) (d + m) ->
  exists s, -1 <= s <= 1 /\ norm (d + s * m + rho s) = l.
Proof.
  intros C1 C2 C3 B L N F.
  assert (P : 0 <= left_out) by (eapply Rle_trans; [apply (norm_pos (rho 0))|apply B; lra]).
  set (w := fun s => (d + s * m + rho s)%vec).
  set (g := fun s => x1 (w s) * x1 (w s) + x2 (w s) * x2 (w s) + x3 (w s) * x3 (w s) - l * l).
  assert (Cw : forall a b f, continuity f -> continuity (fun s => a + s * b + f s)).
  { intros a b f Cf. apply (continuity_plus (fun s => a + s * b) f); [|assumption].
    apply (continuity_plus (fun _ => a) (fun s => s * b)); [apply continuity_const; intros ? ?; reflexivity|].
    apply (continuity_mult (fun s => s) (fun _ => b)); [apply derivable_continuous, derivable_id|].
    apply continuity_const; intros ? ?; reflexivity. }
  assert (Cg : continuity g).
  { assert (W1 : continuity (fun s => x1 (w s))) by (apply (Cw (x1 d) (x1 m) _ C1)).
    assert (W2 : continuity (fun s => x2 (w s))) by (apply (Cw (x2 d) (x2 m) _ C2)).
    assert (W3 : continuity (fun s => x3 (w s))) by (apply (Cw (x3 d) (x3 m) _ C3)).
    apply (continuity_minus
      (fun s => x1 (w s) * x1 (w s) + x2 (w s) * x2 (w s) + x3 (w s) * x3 (w s)) (fun _ => l * l));
      [|apply continuity_const; intros ? ?; reflexivity].
    apply (continuity_plus (fun s => x1 (w s) * x1 (w s) + x2 (w s) * x2 (w s)) (fun s => x3 (w s) * x3 (w s)));
      [apply (continuity_plus (fun s => x1 (w s) * x1 (w s)) (fun s => x2 (w s) * x2 (w s)))|];
      [apply (continuity_mult (fun s => x1 (w s)) (fun s => x1 (w s)))|
       apply (continuity_mult (fun s => x2 (w s)) (fun s => x2 (w s)))|
       apply (continuity_mult (fun s => x3 (w s)) (fun s => x3 (w s)))]; assumption. }
  assert (G : forall s, g s = norm (w s) * norm (w s) - l * l) by (intros s; rewrite norm_sq; reflexivity).
  assert (G1 : g (-1) <= 0).
  { rewrite G. assert (K : norm (w (-1)) <= l).
    { unfold w. assert (T := norm_triangle (d + -1 * m) (rho (-1))). assert (Bm := B (-1) ltac:(lra)).
      assert (norm (d + -1 * m) <= l - left_out); [|lra]. apply norm_le; [lra|].
      replace (d + -1 * m)%vec with (d - m)%vec; [assumption|]. unfold vadd, vsub, scale; simpl. f_equal; ring. }
    assert (norm (w (-1)) * norm (w (-1)) <= l * l) by (apply squares_le; [apply norm_pos|assumption]). lra. }
  assert (G2 : 0 <= g 1).
  { rewrite G. assert (K : l <= norm (w 1)).
    { unfold w. assert (Bp := B 1 ltac:(lra)). assert (l + left_out <= norm (d + m)).
      { apply le_of_squares; [apply norm_pos|]. rewrite norm_sq. assumption. }
      assert (T := norm_triangle (d + 1 * m + rho 1) (-1 * rho 1)%vec).
      rewrite norm_scale in T. replace (Rabs (-1)) with 1 in T by (rewrite Rabs_left; lra).
      replace (d + 1 * m + rho 1 + -1 * rho 1)%vec with (d + m)%vec in T; [lra|].
      unfold vadd, scale; simpl. f_equal; ring. }
    assert (l * l <= norm (w 1) * norm (w 1)) by (apply squares_le; lra). lra. }
  destruct (IVT_cor g (-1) 1 Cg ltac:(lra)) as (s & S & Z).
  { rewrite Rmult_comm. rewrite <- (Rmult_0_r (g 1)). apply Rmult_le_compat_l; assumption. }
  exists s. split; [assumption|]. rewrite G in Z. apply norm_eq; [lra|]. fold (w s). rewrite <- norm_sq. lra.
Qed.

Theorem rod_exhibited_whatever r more k x shown : rod_shows r more k x shown = true ->
  rod_fits_whatever r more k (option_map (map val) shown) (map val x).
Proof.
  intros H. unfold rod_shows in H. destruct (nth_error (poses r) k) as [q0|] eqn:Q; [|discriminate].
  apply andb_true_iff in H. destruct H as [Hr H].
  set (q := widened (reading r) (turned r) more q0) in *. exists q.
  split; [rewrite nth_error_map, Q; reflexivity|]. intros rho C B.
  set (known := known_errors r (length (errors q)) shown) in *.
  destruct (with_known _ _ _ _) as [d|] eqn:W; [|discriminate]. cbv zeta in H.
  repeat rewrite andb_true_iff in H. destruct H as [[H1 H2] H3]. apply le_spec in H1, H2, H3.
  set (b := along (errors q) known x d) in *.
  set (a := map val (map known_or_zero known)) in *. set (b' := map val b).
  assert (Dk := with_known_spec _ _ _ _ _ W). rewrite affine_at_spec in Dk. fold a in Dk.
  assert (Mb := drift_at_spec (errors q) b x (Trio zero zero zero)).
  set (m := drift_at (errors q) b x (Trio zero zero zero)) in *.
  set (left_out := add (blur q) (sdot (bend q) (map abs x) zero)) in *.
  set (l := nth (Nat.pred (n_of r)) x zero) in *.
  assert (Lo : rest q (map val x) = val left_out).
  { unfold rest, left_out. rewrite val_add, sdot_spec, val_zero, Rplus_0_l. f_equal. f_equal.
    rewrite !map_map. apply map_ext. intros v. symmetry. apply val_abs. }
  assert (Ll : rod_length r (map val x) = val l).
  { unfold rod_length, l. rewrite <- val_zero. rewrite map_nth. reflexivity. }
  assert (Lab : length a = length b').
  { unfold a, b', b. rewrite !map_length. symmetry. eapply along_length; eauto. }
  destruct (C a b') as (C1 & C2 & C3).
  destruct (between_lengths (vval d) (vval m) (fun s => rho (line a b' s)) (val l) (val left_out)) as (s & S & Z); auto.
  - intros s S. rewrite <- Lo. apply B. unfold a, b', b. eapply line_within; eauto.
  - unfold square_sum, on_both in H2. rewrite val_sum in H2. cbn [o1 o2 o3 map fold_right] in H2.
    rewrite !val_square, !val_sub in H2. unfold dot, vsub, vval. cbn [x1 x2 x3]. lra.
  - unfold square_sum, on_both in H3. rewrite val_sum in H3. cbn [o1 o2 o3 map fold_right] in H3.
    rewrite !val_square, !val_add in H3. unfold dot, vadd, vval. cbn [x1 x2 x3]. lra.
  - exists (line a b' s). split; [unfold a, b', b; eapply line_within; eauto|]. split.
    + intros v V. destruct shown as [l0|]; [|discriminate]. injection V as <-. apply Nat.leb_le in Hr.
      unfold a, b', b, known, known_errors. apply shown_line; [assumption|].
      apply with_known_length in W. rewrite W. unfold known, known_errors. rewrite insert_length, map_length.
        reflexivity.
    + rewrite Ll, <- Z. f_equal. f_equal. rewrite drift_line by assumption. rewrite Dk, Mb. fold b'.
      unfold vadd, scale, vval; simpl. rewrite val_zero. f_equal; ring.
Qed.

Lemma good_rest r more q0 q x : good_rod r = true -> In q0 (poses r) -> q = widened (reading r) (turned r) more q0 ->
  0 <= rest q x.
Proof.
  intros G I ->. unfold good_rod in G. repeat rewrite andb_true_iff in G. destruct G as [[[[_ G] _] _] _].
  rewrite forallb_forall in G. apply G in I. unfold good_pose in I. repeat rewrite andb_true_iff in I.
  destruct I as [[[_ G1] G2] G3]. apply negb_true_iff, is_neg_false in G3.
  assert (B : Forall (fun v => 0 <= val v) (bend (widened (reading r) (turned r) more q0))).
  { apply widened_bend.
    - apply Forall_forall. intros v V. rewrite forallb_forall in G2. apply G2 in V. apply negb_true_iff in V.
      apply is_neg_false in V. assumption.
    - apply forallb_forall. intros er V. rewrite forallb_forall in G1. apply G1 in V. apply andb_true_iff in V. apply
      V. }
  unfold rest. replace (blur (widened (reading r) (turned r) more q0)) with (blur q0)
    by (unfold widened; destruct (nth_error _ _); reflexivity).
  assert (K : 0 <= rdot (bend (widened (reading r) (turned r) more q0)) (map Rabs x)); [|lra].
  clear - B. revert x. induction B as [|b l H B IH]; intros [|v x]; simpl; try lra.
  assert (0 <= val b * Rabs v) by (apply Rmult_le_pos; [assumption|apply Rabs_pos]). specialize (IH x). lra.
Qed.

(* Exhibited values fit a pose, with the errors that are shown if any are. *)
Theorem rod_exhibited r more k x shown : good_rod r = true -> rod_shows r more k x shown = true ->
  exists e, rod_fits r more k e (map val x) /\ forall v, shown = Some v -> e = map val v.
Proof.
  intros G H. apply rod_exhibited_whatever in H. destruct H as (q & Q & H).
  assert (Z : norm (Vec 0 0 0) = 0) by (apply norm_eq; [lra|unfold dot; simpl; ring]).
  destruct (H (fun _ => Vec 0 0 0)) as (eps & T & E & L).
  - intros a b. simpl. repeat split; apply continuity_const; intros ? ?; reflexivity.
  - intros eps _. rewrite Z. rewrite nth_error_map in Q. destruct (nth_error (poses r) k) as [q0|] eqn:P;
    [|discriminate].
    injection Q as <-. eapply good_rest; eauto. eapply nth_error_In; eauto.
  - exists (without (reading r) eps). split.
    + exists q, eps, (Vec 0 0 0). repeat split; auto. rewrite Z. rewrite nth_error_map in Q.
      destruct (nth_error (poses r) k) as [q0|] eqn:P; [|discriminate].
      injection Q as <-. eapply good_rest; eauto. eapply nth_error_In; eauto.
    + intros v ->. apply E. reflexivity.
Qed.

(* Values meet the conditions exactly. *)
Definition condition_sum (c : condition) (x : list num) : num :=
  fold_left (fun s t => let '(i, j, v) := t in reduce (add s (mul v (mul (nth i x zero) (nth j x zero))))) c zero.

Definition rod_meets_exactly (r : rod) (x : list num) : bool :=
  forallb (fun c => is_zero (condition_sum c x)) (conditions r).

Lemma condition_sum_spec x c : val (condition_sum c x) = condition_value c (map val x).
Proof.
  unfold condition_sum. enough (K : forall s, val (fold_left (fun s (t : nat * nat * num) => let '(i, j, v) := t in
    reduce (add s (mul v (mul (nth i x zero) (nth j x zero))))) c s) = val s + condition_value c (map val x)).
  { rewrite K, val_zero. ring. }
  induction c as [|[[i j] v] c IH]; intros s; simpl; [ring|]. rewrite IH, val_reduce, val_add, !val_mul.
  rewrite <- val_zero, !map_nth. ring.
Qed.

Lemma rod_meets_exactly_spec r x : rod_meets_exactly r x = true -> rod_meets r (map val x).
Proof.
  unfold rod_meets_exactly, rod_meets. rewrite forallb_forall, Forall_forall. intros H c C.
  rewrite <- condition_sum_spec. apply is_zero_spec, H, C.
Qed.
