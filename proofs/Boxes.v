(* Trees of boxes: what weighted rows of chains leave of a prior. Mirrors checker/box_rows.py and
   checker/chain_boxes.py.

   Unknowns are real numbers, a list for each chain. A stage is a box center ± radius. With h = x − center, a chain's
   columns are h and some products h_i h_j; the errors of a pose are columns too. A row Σ coefficient · column ≤ side
   holds of every consistent chain in the box. Rows with weights ≥ 0 are added, and each column that is left is taken at
   its worst. What is proven: a bound of an unknown, or that there is none.

   Rows of poses and conditions come from elsewhere (Rods.v, Legs.v): a [chain] is a table of rows, a [meaning] is what
   it states about real numbers, and [sound] says that the rows follow from the meaning.

   Main theorem: [follow_sound]. *)
Require Import ZArith Reals Lra Lia List Bool Arith.
Require Import Gough.Num Gough.Rows.
Import ListNotations.
Local Open Scope R_scope.

(* Rows of a box ---------------------------------------------------------------------------------------------------- *)

(* Σ coefs · columns + Σ errs · errors of the pose ≤ bside. Missing coefficients are 0. *)
Record brow := BRow { coefs : list num; errs : list num; bside : num }.

Definition bholds (r : brow) (y e : list R) : Prop := rdot (coefs r) y + rdot (errs r) e <= val (bside r).

(* x − center *)
Fixpoint dev (x : list R) (center : list num) : list R :=
  match x, center with v :: x', c :: center' => v - val c :: dev x' center' | _, _ => [] end.

(* The columns of a chain: h, then products of h. An unknown that there is not counts as 0. *)
Definition columns (products : list (nat * nat)) (h : list R) : list R :=
  h ++ map (fun ij => nth (fst ij) h 0 * nth (snd ij) h 0) products.

(* |h_i| ≤ radius_i, for lists of one length. *)
Definition near (radius : list num) (h : list R) : Prop := Forall2 (fun r v => Rabs v <= val r) radius h.

(* Errors of a pose within their tolerances. *)
Definition tolerated (tolerance : list num) (e : list R) : Prop := Forall2 (fun t v => Rabs v <= val t) tolerance e.

(* Chains as boxes see them ----------------------------------------------------------------------------------------- *)

(* The equations of a chain are its poses, then its conditions. [table center radius shared used] has at place k both
   sides of equation k, from above and from below, if [used] is true at k; other places may be None. If [shared], errors
   of the pose stand as columns of their own. *)
Record chain := Chain {
  n_unknowns : nat;
  products : list (nat * nat);
  n_poses : nat;
  n_conditions : nat;
  tolerances : list (list num);      (* of each pose: of the errors that chains share *)
  table : list num -> list num -> bool -> list bool -> list (option (brow * brow))
}.

(* fits k e x: the equation of pose k holds of the unknowns x, with errors e of the pose.
   meets x: the unknowns x satisfy all conditions. *)
Record meaning := Meaning { fits : nat -> list R -> list R -> Prop; meets : list R -> Prop }.

Definition sound (c : chain) (m : meaning) : Prop :=
  (forall k e x, fits m k e x -> tolerated (nth k (tolerances c) []) e) /\
  (forall center radius shared used k above below e x,
    nth_error (table c center radius shared used) k = Some (Some (above, below)) ->
    length x = n_unknowns c -> length center = n_unknowns c -> near radius (dev x center) ->
    ((k < n_poses c)%nat -> fits m k e x) -> ((n_poses c <= k)%nat -> meets m x) ->
    let y := columns (products c) (dev x center) in bholds above y e /\ bholds below y e).

(* A table from a list of data: f at the places that are used. *)
Fixpoint tabulate {A} (f : A -> option (brow * brow)) (used : list bool) (data : list A) : list (option (brow * brow))
  :=
  match used, data with
  | u :: used', d :: data' => (if u then f d else None) :: tabulate f used' data'
  | _, _ => []
  end.

Lemma tabulate_spec {A} (f : A -> option (brow * brow)) data : forall used k r,
  nth_error (tabulate f used data) k = Some (Some r) -> exists d, nth_error data k = Some d /\ f d = Some r.
Proof.
  induction data as [|d data IH]; intros [|u used] [|k] r H; simpl in *; try discriminate.
  - destruct u; [|discriminate]. injection H; eauto.
  - eauto.
Qed.

(* Sums of rows ----------------------------------------------------------------------------------------------------- *)

(* l with v added at place i; it is made longer if need be. *)
Fixpoint add_at (i : nat) (v : num) (l : list num) : list num :=
  match i, l with
  | O, [] => [v]
  | O, z :: l' => add z v :: l'
  | S i', [] => zero :: add_at i' v []
  | S i', z :: l' => z :: add_at i' v l'
  end.

Lemma rdot_nil y : rdot [] y = 0.
Proof. reflexivity. Qed.

Lemma rdot_add_at i : forall v l y, rdot (add_at i v l) y = rdot l y + val v * nth i y 0.
Proof.
  induction i as [|i IH]; intros v [|z l] [|u y]; simpl; try ring.
  - rewrite val_add. ring.
  - rewrite IH, val_zero. simpl. ring.
  - rewrite IH. ring.
Qed.

(* acc + w a *)
Fixpoint axpy (w : num) (a acc : list num) : list num :=
  match a, acc with
  | [], _ => acc
  | c :: a', [] => (if is_zero c then zero else mul w c) :: axpy w a' []
  | c :: a', z :: acc' => (if is_zero c then z else add z (mul w c)) :: axpy w a' acc'
  end.

Lemma rdot_axpy w a : forall acc y, rdot (axpy w a acc) y = rdot acc y + val w * rdot a y.
Proof.
  induction a as [|c a IH]; intros [|z acc] [|u y]; simpl; try ring.
  - rewrite IH. destruct (is_zero c) eqn:E.
    + apply is_zero_spec in E. rewrite E, val_zero. simpl. ring.
    + rewrite val_mul. simpl. ring.
  - rewrite IH. destruct (is_zero c) eqn:E.
    + apply is_zero_spec in E. rewrite E. ring.
    + rewrite val_add, val_mul. ring.
Qed.

(* Sums by a key: the block of some columns, or the pose of some errors. *)
Definition sums := list (nat * list num).

Fixpoint add_sum (k : nat) (w : num) (a : list num) (s : sums) : sums :=
  match s with
  | [] => [(k, axpy w a [])]
  | (j, acc) :: s' => if Nat.eqb j k then (j, axpy w a acc) :: s' else (j, acc) :: add_sum k w a s'
  end.

Fixpoint worth (y : nat -> list R) (s : sums) : R :=
  match s with [] => 0 | (k, acc) :: s' => rdot acc (y k) + worth y s' end.

Lemma worth_add_sum y k w a s : worth y (add_sum k w a s) = worth y s + val w * rdot a (y k).
Proof.
  induction s as [|[j acc] s IH]; simpl.
  - rewrite rdot_axpy. simpl. ring.
  - destruct (Nat.eqb_spec j k) as [->|N]; simpl; [rewrite rdot_axpy|rewrite IH]; ring.
Qed.

(* Columns at their worst: the largest size of each, and whether it is a square, which is not negative. *)
Fixpoint worst_sum (acc : list num) (most : list (num * bool)) (sum : num) : num :=
  match acc, most with
  | t :: acc', (m, square) :: most' =>
      worst_sum acc' most' (if is_zero t || (square && is_pos t) then sum else add sum (mul (abs t) m))
  | _, _ => sum
  end.

Definition bounded (m : num * bool) (y : R) : Prop := Rabs y <= val (fst m) /\ (snd m = true -> 0 <= y).

Lemma times_worst t y m : Rabs y <= m -> - (Rabs t * m) <= t * y.
Proof.
  intros H. assert (K := Rle_abs (- (t * y))). rewrite Rabs_Ropp, Rabs_mult in K.
  assert (Rabs t * Rabs y <= Rabs t * m) by (apply Rmult_le_compat_l; [apply Rabs_pos|assumption]). lra.
Qed.

Lemma worst_sum_spec acc : forall most y sum, Forall2 bounded most y ->
  val sum - val (worst_sum acc most sum) <= rdot acc y.
Proof.
  induction acc as [|t acc IH]; intros most y sum H; [simpl; lra|].
  destruct H as [|[m q] u most y [B P] H]; [simpl; lra|].
  simpl in *. match goal with |- context [worst_sum acc most ?s] => specialize (IH most y s H); revert IH end.
  destruct (is_zero t) eqn:Z; simpl.
  - apply is_zero_spec in Z. rewrite Z. lra.
  - destruct (q && is_pos t) eqn:E.
    + apply andb_true_iff in E. destruct E as [-> E]. apply is_pos_spec in E.
      assert (0 <= val t * u) by (apply Rmult_le_pos; [lra|auto]). lra.
    + rewrite val_add, val_mul, val_abs. assert (K := times_worst (val t) u _ B). lra.
Qed.

Fixpoint worst_sums (s : sums) (most : nat -> list (num * bool)) (sum : num) : num :=
  match s with [] => sum | (k, acc) :: s' => worst_sums s' most (worst_sum acc (most k) sum) end.

Lemma worst_sums_spec s : forall most y sum, (forall k, In k (map fst s) -> Forall2 bounded (most k) (y k)) ->
  val sum - val (worst_sums s most sum) <= worth y s.
Proof.
  induction s as [|[k acc] s IH]; intros most y sum H; simpl in *; [lra|].
  assert (K := worst_sum_spec acc (most k) (y k) sum (H k (or_introl eq_refl))).
  assert (L := IH most y (worst_sum acc (most k) sum) (fun j J => H j (or_intror J))). lra.
Qed.

Lemma add_sum_keys k w a s j : In j (map fst (add_sum k w a s)) -> j = k \/ In j (map fst s).
Proof.
  induction s as [|[i acc] s IH]; simpl; [intuition|].
  destruct (Nat.eqb_spec i k); simpl; intuition.
Qed.

(* Columns of a block ----------------------------------------------------------------------------------------------- *)

Definition worst_columns (products : list (nat * nat)) (radius : list num) : list (num * bool) :=
  map (fun r => (r, false)) radius ++
  map (fun ij => (mul (nth (fst ij) radius zero) (nth (snd ij) radius zero), Nat.eqb (fst ij) (snd ij))) products.

Lemma near_nth radius h : near radius h -> forall i, Rabs (nth i h 0) <= val (nth i radius zero).
Proof.
  induction 1 as [|r v radius h B H IH]; intros [|i]; simpl; try (rewrite Rabs_R0, val_zero; lra); auto.
Qed.

Lemma near_length radius h : near radius h -> length radius = length h.
Proof. induction 1; simpl; congruence. Qed.

Lemma product_most a b r s : Rabs a <= r -> Rabs b <= s -> Rabs (a * b) <= r * s.
Proof. intros A B. rewrite Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos. Qed.

Lemma worst_columns_spec products radius h : near radius h ->
  Forall2 bounded (worst_columns products radius) (columns products h).
Proof.
  intros N. unfold worst_columns, columns. apply Forall2_app.
  - induction N as [|r v radius h B N IH]; simpl; constructor; auto. split; simpl; [assumption|discriminate].
  - induction products as [|[i j] ps IH]; simpl; constructor; auto. split; simpl.
    + rewrite val_mul. apply product_most; apply near_nth; assumption.
    + intros E. apply Nat.eqb_eq in E. subst. apply Rle_0_sqr.
Qed.

(* (r_i ∓ h_i)(r_j ∓ h_j) ≥ 0 for a product, (h − t)² ≥ 0 for a square, t at four places; the product's column is n + p.
   *)
Definition planes (i j n p : nat) (radius : list num) (which : nat) : brow :=
  if Nat.eqb i j then
    let r := nth i radius zero in
    let t := match which with O => neg r | 1%nat => neg (mul half r) | 2%nat => mul half r | _ => r end in
    BRow (add_at (n + p) (neg one) (add_at i (add t t) [])) [] (mul t t)
  else
    let (ri, rj) := (nth i radius zero, nth j radius zero) in
    let s1 := match which with O | 1%nat => false | _ => true end in     (* true: a minus *)
    let s2 := match which with O | 2%nat => false | _ => true end in
    let signed (s : bool) x := if s then neg x else x in
    BRow (add_at (n + p) (signed (negb (xorb s1 s2)) one) (add_at j (signed s2 ri) (add_at i (signed s1 rj) []))) []
      (mul ri rj).

Lemma columns_h products h i : (i < length h)%nat -> nth i (columns products h) 0 = nth i h 0.
Proof. intros H. unfold columns. apply app_nth1; assumption. Qed.

Lemma columns_product products h p i j : nth_error products p = Some (i, j) ->
  nth (length h + p) (columns products h) 0 = nth i h 0 * nth j h 0.
Proof.
  intros H. unfold columns. rewrite app_nth2 by lia. replace (length h + p - length h)%nat with p by lia.
  apply nth_error_nth with (d := 0). rewrite nth_error_map, H. reflexivity.
Qed.

Lemma four_planes a b r s : Rabs a <= r -> Rabs b <= s ->
  0 <= (r - a) * (s - b) /\ 0 <= (r + a) * (s - b) /\ 0 <= (r - a) * (s + b) /\ 0 <= (r + a) * (s + b).
Proof.
  intros A B. assert (P := Rle_abs a). assert (Q := Rle_abs (- a)). rewrite Rabs_Ropp in Q.
  assert (S := Rle_abs b). assert (T := Rle_abs (- b)). rewrite Rabs_Ropp in T.
  repeat split; apply Rmult_le_pos; lra.
Qed.

Lemma planes_hold products radius h i j p which e :
  near radius h -> nth_error products p = Some (i, j) -> (i < length h)%nat -> (j < length h)%nat ->
  bholds (planes i j (length h) p radius which) (columns products h) e.
Proof.
  intros N P I J. unfold planes. destruct (Nat.eqb_spec i j) as [->|D].
  - cbv zeta. set (t := match which with O => _ | _ => _ end). unfold bholds. cbn [coefs errs bside].
    rewrite !rdot_add_at, (columns_product _ _ _ _ _ P), columns_h, val_add, val_mul, val_neg, val_one by assumption.
    simpl rdot. assert (K := Rle_0_sqr (nth j h 0 - val t)). unfold Rsqr in K. lra.
  - unfold bholds. cbn [coefs errs bside]. cbv zeta.
    rewrite !rdot_add_at, (columns_product _ _ _ _ _ P), !columns_h, val_mul by assumption.
    destruct (four_planes (nth i h 0) (nth j h 0) (val (nth i radius zero)) (val (nth j radius zero)))
      as (A & B & C & E); [apply near_nth; assumption..|].
    simpl rdot.
    destruct which as [|[|[|which]]]; simpl negb; cbv iota; rewrite ?val_neg, ?val_one; lra.
Qed.

(* Which row a number names ----------------------------------------------------------------------------------------- *)

Definition n_equations (c : chain) : nat := n_poses c + n_conditions c.
Definition n_rows (c : chain) : nat := 2 * n_equations c + 4 * length (products c).

(* Row k bounds equation k from above and row n + k from below; the four planes or tangents of each product follow. *)
Inductive which_row := Equation (k : nat) (from_below : bool) | Plane (product which : nat).

Definition which_row_of (c : chain) (own : nat) : which_row :=
  let n := n_equations c in
  if Nat.ltb own n then Equation own false
  else if Nat.ltb own (2 * n) then Equation (own - n) true
  else Plane ((own - 2 * n) / 4) ((own - 2 * n) mod 4).

(* The chain in whose block a row stands, and its number there: the rows of one chain follow those of another. *)
Fixpoint locate (cs : list chain) (number i : nat) : option (nat * nat) :=
  match cs with
  | [] => None
  | c :: cs' => let m := n_rows c in if Nat.ltb number m then Some (i, number) else locate cs' (number - m) (S i)
  end.

(* The pose that a row is about, if any. *)
Definition pose_of (c : chain) (own : nat) : option nat :=
  match which_row_of c own with Equation k _ => if Nat.ltb k (n_poses c) then Some k else None | Plane _ _ => None end.

Definition pose_at (cs : list chain) (number : nat) : option (option nat) :=
  match locate cs number 0 with
  | None => None
  | Some (i, own) => match nth_error cs i with None => None | Some c => Some (pose_of c own) end
  end.

Definition add_new (k : nat) (l : list nat) : list nat := if existsb (Nat.eqb k) l then l else k :: l.

Lemma add_new_in k l : In k (add_new k l).
Proof.
  unfold add_new. destruct (existsb (Nat.eqb k) l) eqn:E; [|left; reflexivity].
  apply existsb_exists in E. destruct E as (j & J & K). apply Nat.eqb_eq in K. subst; assumption.
Qed.

Lemma add_new_incl k l : incl l (add_new k l).
Proof. intros j J. unfold add_new. destruct (existsb (Nat.eqb k) l); [|right]; assumption. Qed.

(* The poses whose rows have some weight, and those of [poses]; None if there is no such row. *)
Fixpoint weights_poses (cs : list chain) (ws : list (nat * num)) (poses : list nat) : option (list nat) :=
  match ws with
  | [] => Some poses
  | (number, w) :: ws' =>
      if is_zero w then weights_poses cs ws' poses
      else match pose_at cs number with
           | None => None
           | Some None => weights_poses cs ws' poses
           | Some (Some k) => weights_poses cs ws' (add_new k poses)
           end
  end.

Lemma weights_poses_incl cs ws : forall poses r, weights_poses cs ws poses = Some r -> incl poses r.
Proof.
  induction ws as [|[number w] ws IH]; intros poses r H; simpl in H.
  - injection H as <-. apply incl_refl.
  - destruct (is_zero w); [eauto|]. destruct (pose_at cs number) as [[k|]|]; [|eauto|discriminate].
    eapply incl_tran; [apply (add_new_incl k)|eauto].
Qed.

(* Stages and splits ------------------------------------------------------------------------------------------------ *)

Inductive side := Lower | Upper | Empty.

(* A bound of unknown number [snd on] of the chain at place [fst on], or a contradiction, by weights of rows. *)
Record cut := Cut { on : nat * nat; cside : side; cbound : num; weights : list (nat * num) }.

(* A stage is about the chain at place [who], or about all chains (None) with the errors of poses shared. A split halves
   what is left at a value of one unknown; what each half's links leave is united. *)
Inductive links :=
  | Done
  | Stage (center radius : list num) (who : option nat) (cuts : list cut) (rest : links)
  | Split (c i : nat) (at_ : num) (below above rest : links).

(* Lower and upper side of each unknown of each chain. *)
Definition box := list (list (num * num)).

Definition between (side : num * num) (v : R) : Prop := val (fst side) <= v <= val (snd side).
Definition inside (b : box) (x : list (list R)) : Prop := Forall2 (Forall2 between) b x.

(* One chain's part of a stage: its place, the box, its rows and how large its columns may be. *)
Record block := Block {
  place : nat;
  of : chain;
  mid : list num;
  rad : list num;
  both : list (option (brow * brow));
  most : list (num * bool)
}.

(* Row [own] of a block, and the number of its equation, if it is that of a pose. *)
Definition row_at (bk : block) (own : nat) : option (brow * option nat) :=
  match which_row_of (of bk) own with
  | Equation k from_below =>
      match nth_error (both bk) k with
      | Some (Some (above, below)) =>
          Some (if from_below then below else above, if Nat.ltb k (n_poses (of bk)) then Some k else None)
      | _ => None
      end
  | Plane p which =>
      let n := length (mid bk) in
      match nth_error (products (of bk)) p with
      | Some (i, j) => if Nat.ltb i n && Nat.ltb j n then Some (planes i j n p (rad bk) which, None) else None
      | None => None
      end
  end.

(* Σ λ (A y − b) ≤ 0 is added: sums of columns, sums of errors, and the value. *)
Fixpoint add_rows (cs : list chain) (bs : list block) (ws : list (nat * num)) (cols errors : sums) (value : num) :
    option (sums * sums * num) :=
  match ws with
  | [] => Some (cols, errors, value)
  | (number, w) :: ws' =>
      if is_neg w then None
      else match locate cs number 0 with
      | None => None
      | Some (i, own) =>
          if is_zero w then add_rows cs bs ws' cols errors value
          else match nth_error bs i with
          | None => None
          | Some bk =>
              match row_at bk own with
              | None => None
              | Some (r, pose) =>
                  let cols := add_sum i w (coefs r) cols in
                  let value := sub value (mul w (bside r)) in
                  match errs r, pose with
                  | [], _ => add_rows cs bs ws' cols errors value
                  | a, Some k => add_rows cs bs ws' cols (add_sum k w a errors) value
                  | _, None => None
                  end
              end
          end
      end
  end.

(* The largest v for which Σ target · y ≥ v follows from the weighted rows, y at its worst. *)
Definition proven (cs : list chain) (bs : list block) (tolerance : list (list num)) (target : sums)
    (ws : list (nat * num)) : option num :=
  match add_rows cs bs ws target [] zero with
  | None => None
  | Some (cols, errors, value) =>
      let sum := worst_sums cols (fun i => match nth_error bs i with Some bk => most bk | None => [] end) zero in
      let sum := worst_sums errors (fun k => map (fun t => (t, false)) (nth k tolerance [])) sum in
      Some (sub value sum)
  end.

Fixpoint update {A} (i : nat) (f : A -> A) (l : list A) : list A :=
  match i, l with
  | _, [] => []
  | O, a :: l' => f a :: l'
  | S i', a :: l' => a :: update i' f l'
  end.

Definition raised (c i : nat) (v : num) (b : box) : box :=
  update c (update i (fun s => (max (fst s) v, snd s))) b.
Definition lowered (c i : nat) (v : num) (b : box) : box :=
  update c (update i (fun s => (fst s, min (snd s) v))) b.

(* The block of the chain at a place, and its number among the blocks. *)
Fixpoint block_of (bs : list block) (c i : nat) : option (nat * block) :=
  match bs with
  | [] => None
  | bk :: bs' => if Nat.eqb (place bk) c then Some (i, bk) else block_of bs' c (S i)
  end.

(* What a cut leaves of a box, and whether nothing was left before; None if the cut is not proven. *)
Definition cut_left (cs : list chain) (bs : list block) (tolerance : list (list num)) (t : cut) (left : box * bool) :
    option (box * bool) :=
  match cside t with
  | Empty =>
      match proven cs bs tolerance [] (weights t) with
      | Some v => if is_pos v then Some (fst left, true) else None
      | None => None
      end
  | _ =>
      let (c, i) := on t in
      match block_of bs c 0 with
      | None => None
      | Some (j, bk) =>
          if Nat.ltb i (length (mid bk)) then
            let center := nth i (mid bk) zero in
            let lower := match cside t with Lower => true | _ => false end in
            match proven cs bs tolerance [(j, add_at i (if lower then one else neg one) [])] (weights t) with
            | None => None
            | Some v =>
                if lower then
                  if le (sub (cbound t) center) v then Some (raised c i (cbound t) (fst left), snd left) else None
                else if le (sub center (cbound t)) v then Some (lowered c i (cbound t) (fst left), snd left) else None
            end
          else None
      end
  end.

Fixpoint cuts_left (cs : list chain) (bs : list block) (tolerance : list (list num)) (cuts : list cut)
    (left : box * bool) : option (box * bool) :=
  match cuts with
  | [] => Some left
  | t :: cuts' =>
      match cut_left cs bs tolerance t left with
      | None => None
      | Some left' => cuts_left cs bs tolerance cuts' left'
      end
  end.

(* Equations of block i of which a cut has rows. *)
Fixpoint mark (k : nat) (flags : list bool) : list bool :=
  match k, flags with
  | O, [] => [true]
  | O, _ :: flags' => true :: flags'
  | S k', [] => false :: mark k' []
  | S k', f :: flags' => f :: mark k' flags'
  end.

Definition mark_row (cs : list chain) (c : chain) (i : nat) (flags : list bool) (weight : nat * num) : list bool :=
  match locate cs (fst weight) 0 with
  | Some (j, own) =>
      if Nat.eqb i j then
        match which_row_of c own with
        | Equation k _ => if nth k flags false then flags else mark k flags
        | Plane _ _ => flags
        end
      else flags
  | None => flags
  end.

Definition used_by (cs : list chain) (c : chain) (i : nat) (cuts : list cut) : list bool :=
  fold_left (fun flags t => fold_left (mark_row cs c i) (weights t) flags) cuts [].

(* center − radius ≤ low and high ≤ center + radius, for lists of one length. *)
Fixpoint covers (center radius : list num) (sides : list (num * num)) : bool :=
  match center, radius, sides with
  | [], [], [] => true
  | c :: center', r :: radius', (low, high) :: sides' =>
      le (sub c r) low && le high (add c r) && covers center' radius' sides'
  | _, _, _ => false
  end.

(* The blocks of the chains at some places; None if the stage does not cover the box. *)
Fixpoint blocks_of (space : list chain) (b : box) (cs : list chain) (cuts : list cut) (shared : bool)
    (places : list nat) (i : nat) (center radius : list num) : option (list block) :=
  match places with
  | [] => match center, radius with [], [] => Some [] | _, _ => None end
  | p :: places' =>
      match nth_error space p, nth_error b p with
      | Some c, Some sides =>
          let n := n_unknowns c in
          let m := firstn n center in
          let r := firstn n radius in
          if Nat.eqb (length m) n && covers m r sides then
            match blocks_of space b cs cuts shared places' (S i) (skipn n center) (skipn n radius) with
            | None => None
            | Some bs =>
                Some (Block p c m r (table c m r shared (used_by cs c i cuts)) (worst_columns (products c) r) :: bs)
            end
          else None
      | _, _ => None
      end
  end.

Definition places_of (space : list chain) (who : option nat) : list nat :=
  match who with Some c => [c] | None => seq 0 (length space) end.

Fixpoint chains_at (space : list chain) (places : list nat) : option (list chain) :=
  match places with
  | [] => Some []
  | p :: places' =>
      match nth_error space p, chains_at space places' with Some c, Some cs => Some (c :: cs) | _, _ => None end
  end.

(* What the cuts of a stage leave. All of them are proven in the box before it. *)
Definition stage_left (space : list chain) (b : box) (center radius : list num) (who : option nat) (cuts : list cut) :
    option (box * bool) :=
  let places := places_of space who in
  match chains_at space places with
  | None => None
  | Some cs =>
      let shared := Nat.ltb 1 (length places) in
      match blocks_of space b cs cuts shared places 0 center radius with
      | Some ((bk :: _) as bs) => cuts_left cs bs (tolerances (of bk)) cuts (b, false)
      | _ => None
      end
  end.

Definition crossed (b : box) : bool := existsb (existsb (fun s => lt (snd s) (fst s))) b.

(* None: nothing is left. *)
Definition what_is_left (left : box * bool) : option box :=
  if snd left || crossed (fst left) then None else Some (fst left).

(* Both lists element by element, if they have one length. *)
Fixpoint zipped {A} (f : A -> A -> option A) (l m : list A) : option (list A) :=
  match l, m with
  | [], [] => Some []
  | a :: l', b :: m' =>
      match f a b, zipped f l' m' with Some c, Some n => Some (c :: n) | _, _ => None end
  | _, _ => None
  end.

Definition hull (s t : num * num) : option (num * num) := Some (min (fst s) (fst t), max (snd s) (snd t)).

(* The smallest box around both. *)
Definition united (a b : option box) : option (option box) :=
  match a, b with
  | None, r | r, None => Some r
  | Some a, Some b => match zipped (zipped hull) a b with Some r => Some (Some r) | None => None end
  end.

Definition has (b : box) (c i : nat) : bool :=
  match nth_error b c with Some sides => Nat.ltb i (length sides) | None => false end.

(* The box that links establish: None if a cut proves less than it states, Some None if nothing is left. Once nothing is
   left, what follows could only be true, and is not looked at. *)
Fixpoint follow (space : list chain) (ls : links) (b : option box) : option (option box) :=
  match b with
  | None => Some None
  | Some bx =>
      match ls with
      | Done => Some b
      | Stage center radius who cuts rest =>
          match stage_left space bx center radius who cuts with
          | None => None
          | Some rem => follow space rest (what_is_left rem)
          end
      | Split c i v below above rest =>
          if has bx c i then
            match follow space below (what_is_left (lowered c i v bx, false)),
                  follow space above (what_is_left (raised c i v bx, false)) with
            | Some l, Some r => match united l r with Some u => follow space rest u | None => None end
            | _, _ => None
            end
          else None
      end
  end.

(* The poses whose rows have some weight in links, halves included. *)
Fixpoint cuts_poses (cs : list chain) (cuts : list cut) (poses : list nat) : option (list nat) :=
  match cuts with
  | [] => Some poses
  | t :: cuts' =>
      match weights_poses cs (weights t) poses with None => None | Some poses' => cuts_poses cs cuts' poses' end
  end.

Fixpoint links_poses (space : list chain) (ls : links) (poses : list nat) : option (list nat) :=
  match ls with
  | Done => Some poses
  | Stage _ _ who cuts rest =>
      match chains_at space (places_of space who) with
      | None => None
      | Some cs => match cuts_poses cs cuts poses with None => None | Some p => links_poses space rest p end
      end
  | Split _ _ _ below above rest =>
      match links_poses space below poses with
      | None => None
      | Some p => match links_poses space above p with None => None | Some q => links_poses space rest q end
      end
  end.

Lemma cuts_poses_incl cs cuts : forall poses r, cuts_poses cs cuts poses = Some r -> incl poses r.
Proof.
  induction cuts as [|t cuts IH]; intros poses r H; simpl in H; [injection H as <-; apply incl_refl|].
  destruct (weights_poses cs (weights t) poses) as [p|] eqn:W; [|discriminate].
  eapply incl_tran; [eapply weights_poses_incl; eauto|eauto].
Qed.

(* What is proven --------------------------------------------------------------------------------------------------- *)

Section Soundness.
Variable space : list chain.
Variable means : list meaning.
Hypothesis all_sound : Forall2 sound space means.

Variable x : list (list R).        (* the unknowns of each chain *)
Variable E : nat -> list R.        (* the errors of each pose, which all chains share *)

(* All chains fit pose k. *)
Definition all_fit (k : nat) : Prop :=
  forall c m xc, nth_error means c = Some m -> nth_error x c = Some xc -> fits m k (E k) xc.

Definition all_meet : Prop := forall c m xc, nth_error means c = Some m -> nth_error x c = Some xc -> meets m xc.

Hypothesis meet : all_meet.

Definition block_ok (bk : block) : Prop :=
  exists m xc, nth_error means (place bk) = Some m /\ nth_error x (place bk) = Some xc /\ sound (of bk) m /\
    length xc = n_unknowns (of bk) /\ length (mid bk) = n_unknowns (of bk) /\ near (rad bk) (dev xc (mid bk)) /\
    (exists shared used, both bk = table (of bk) (mid bk) (rad bk) shared used) /\
    most bk = worst_columns (products (of bk)) (rad bk).

Definition block_columns (bk : block) : list R :=
  columns (products (of bk)) (dev (nth (place bk) x []) (mid bk)).

Definition columns_at (bs : list block) (i : nat) : list R :=
  match nth_error bs i with Some bk => block_columns bk | None => [] end.

Lemma dev_length v : forall c, length v = length c -> length (dev v c) = length v.
Proof. induction v as [|a v IH]; intros [|b c] H; simpl in *; try discriminate; auto. Qed.

Lemma nth_nth_error {A} (l : list A) i a d : nth_error l i = Some a -> nth i l d = a.
Proof. apply nth_error_nth. Qed.

Lemma row_at_holds bk own r pose e : block_ok bk -> row_at bk own = Some (r, pose) ->
  pose = pose_of (of bk) own /\
  ((forall k, pose = Some k -> e = E k /\ all_fit k) -> bholds r (block_columns bk) e).
Proof.
  intros (m & xc & M & X & S & L & C & N & (sh & us & T) & _) H. unfold row_at, pose_of in *.
  unfold block_columns. rewrite (nth_nth_error _ _ _ [] X).
  destruct (which_row_of (of bk) own) as [k fb|p which].
  - destruct (nth_error (both bk) k) as [[[a b]|]|] eqn:B; try discriminate. injection H as <- <-.
    split; [reflexivity|]. intros F. rewrite T in B. destruct S as [_ S].
    assert (K : bholds a (columns (products (of bk)) (dev xc (mid bk))) e /\
                bholds b (columns (products (of bk)) (dev xc (mid bk))) e).
    { apply (S (mid bk) (rad bk) sh us k a b e xc B L C N); intros Q; [|eapply meet; eauto].
      apply Nat.ltb_lt in Q. rewrite Q in F. destruct (F k eq_refl) as [-> F']. eapply F'; eauto. }
    destruct fb; apply K.
  - destruct (nth_error (products (of bk)) p) as [[i j]|] eqn:P; [|discriminate].
    destruct (Nat.ltb i _ && Nat.ltb j _) eqn:Q; [|discriminate]. injection H as <- <-.
    split; [reflexivity|]. intros _. apply andb_true_iff in Q. destruct Q as [I J].
    apply Nat.ltb_lt in I. apply Nat.ltb_lt in J.
    assert (D : length (dev xc (mid bk)) = length (mid bk)) by (rewrite dev_length; congruence).
    rewrite <- D. apply planes_hold; auto; rewrite D; assumption.
Qed.

Definition good_poses (cs : list chain) (ws : list (nat * num)) : Prop :=
  forall number w k, In (number, w) ws -> is_zero w = false -> pose_at cs number = Some (Some k) -> all_fit k.

Lemma weights_poses_good cs ws : forall poses r, weights_poses cs ws poses = Some r ->
  (forall k, In k r -> all_fit k) -> good_poses cs ws.
Proof.
  induction ws as [|[number w] ws IH]; intros poses r H G; simpl in H; [intros ? ? ? []|].
  intros number' w' k [I|I] Z P.
  - injection I as <- <-. rewrite Z, P in H. apply G.
    apply weights_poses_incl in H. apply H, add_new_in.
  - destruct (is_zero w); [eapply IH; eauto|].
    destruct (pose_at cs number) as [[j|]|]; [eapply IH; eauto..|discriminate].
Qed.

Section Blocks.
Variable bs : list block.
Hypothesis bs_ok : forall bk, In bk bs -> block_ok bk.
Let cs := map of bs.
Let Y := columns_at bs.

Lemma add_rows_spec ws : forall cols errors value cols' errors' value',
  good_poses cs ws -> add_rows cs bs ws cols errors value = Some (cols', errors', value') ->
  (forall k, In k (map fst errors) -> all_fit k) ->
  worth Y cols' + worth E errors' + val value' <= worth Y cols + worth E errors + val value /\
  (forall k, In k (map fst errors') -> all_fit k).
Proof.
  induction ws as [|[number w] ws IH]; intros cols errors value cols' errors' value' G H K.
  { simpl in H. injection H as <- <- <-. split; [lra|assumption]. }
  simpl in H. destruct (is_neg w) eqn:W; [discriminate|]. apply is_neg_false in W.
  destruct (locate cs number 0) as [[i own]|] eqn:L; [|discriminate].
  assert (G' : good_poses cs ws) by (intros n' w' k' I; apply (G n' w' k'); right; assumption).
  destruct (is_zero w) eqn:Z; [eapply IH; eauto|].
  destruct (nth_error bs i) as [bk|] eqn:B; [|discriminate].
  assert (OK : block_ok bk) by (apply bs_ok; eapply nth_error_In; eauto).
  destruct (row_at bk own) as [[r pose]|] eqn:Rw; [|discriminate].
  assert (F : forall k, pose = Some k -> all_fit k).
  { intros k ->. destruct (row_at_holds bk own r (Some k) (E k) OK Rw) as [P _].
    apply (G number w k); auto; [left; reflexivity|]. unfold pose_at. rewrite L. unfold cs.
    rewrite nth_error_map, B. simpl. congruence. }
  assert (Hr : bholds r (Y i) (match pose with Some k => E k | None => [] end)).
  { unfold Y, columns_at. rewrite B. eapply row_at_holds; eauto. intros k ->. auto. }
  unfold bholds in Hr.
  destruct (errs r) as [|a al] eqn:A.
  - apply IH in H; auto. destruct H as [H H']. split; [|assumption].
    rewrite worth_add_sum, val_sub, val_mul in H. rewrite rdot_nil in Hr.
    assert (val w * (rdot (coefs r) (Y i)) <= val w * val (bside r)) by (apply Rmult_le_compat_l; lra). lra.
  - destruct pose as [k|]; [|discriminate]. apply IH in H; auto.
    + destruct H as [H H']. split; [|assumption].
      rewrite !worth_add_sum, val_sub, val_mul in H.
      assert (val w * (rdot (coefs r) (Y i) + rdot (a :: al) (E k)) <= val w * val (bside r))
        by (apply Rmult_le_compat_l; lra). lra.
    + intros j J. apply add_sum_keys in J. destruct J as [->|J]; auto.
Qed.

Lemma bounded_tolerance t e : tolerated t e -> Forall2 bounded (map (fun t => (t, false)) t) e.
Proof. induction 1; simpl; constructor; auto. split; simpl; [assumption|discriminate]. Qed.

Lemma proven_spec tolerance target ws v :
  (forall k, all_fit k -> tolerated (nth k tolerance []) (E k)) ->
  good_poses cs ws -> proven cs bs tolerance target ws = Some v -> val v <= worth Y target.
Proof.
  intros T G H. unfold proven in H.
  destruct (add_rows cs bs ws target [] zero) as [[[cols errors] value]|] eqn:A; [|discriminate].
  injection H as <-. apply add_rows_spec in A; auto; [|intros k []]. destruct A as [A K]. simpl worth in A.
  rewrite val_sub.
  match goal with |- context [worst_sums errors ?m (worst_sums cols ?n zero)] =>
    assert (P := worst_sums_spec cols n Y zero); assert (Q := worst_sums_spec errors m E (worst_sums cols n zero)) end.
  rewrite val_zero in *.
  assert (val value <= worth Y target + 0 - worth Y cols - worth E errors) by lra.
  assert (P' : 0 - val (worst_sums cols (fun i => match nth_error bs i with Some bk => most bk | None => [] end) zero)
               <= worth Y cols).
  { apply P. intros i _. unfold Y, columns_at. destruct (nth_error bs i) as [bk|] eqn:B; [|constructor].
    destruct (bs_ok bk (nth_error_In _ _ B)) as (m & xc & _ & X & _ & _ & _ & N & _ & ->). unfold block_columns.
    rewrite (nth_nth_error _ _ _ [] X). apply worst_columns_spec; assumption. }
  assert (Q' := Q (fun k I => bounded_tolerance _ _ (T k (K k I)))). lra.
Qed.

Lemma nth_dev v : forall c i, length v = length c -> (i < length c)%nat -> nth i (dev v c) 0 = nth i v 0 - val (nth i c
  zero).
Proof.
  induction v as [|a v IH]; intros [|b c] [|i] L I; simpl in *; try discriminate; try lia; auto.
  apply IH; lia.
Qed.

Lemma update_inside {A} (P : num * num -> A -> Prop) f i : forall l v,
  Forall2 P l v -> (forall s u, nth_error v i = Some u -> P s u -> P (f s) u) -> Forall2 P (update i f l) v.
Proof.
  induction i as [|i IH]; intros l v [|s u l' v' S H] F; simpl; constructor; auto.
Qed.

Lemma update_inside2 (f : num * num -> num * num) i b xs :
  inside b xs -> forall c,
  (forall s xc u, nth_error xs c = Some xc -> nth_error xc i = Some u -> between s u -> between (f s) u) ->
  inside (update c (update i f) b) xs.
Proof.
  induction 1 as [|sides xc b' x' S H IH]; intros [|c] F; simpl; constructor; try assumption.
  - apply update_inside; [assumption|]. intros s u U K. apply (F s xc u); auto.
  - apply IH. intros s xd u X U. apply (F s xd u); assumption.
Qed.

Lemma raised_inside c i v b : inside b x ->
  (forall xc, nth_error x c = Some xc -> (i < length xc)%nat -> val v <= nth i xc 0) -> inside (raised c i v b) x.
Proof.
  intros H K. apply update_inside2; [assumption|]. intros s xc u X U [A B]. split; simpl; [|assumption].
  rewrite val_max. apply Rmax_lub; [assumption|].
  rewrite <- (nth_nth_error _ _ _ 0 U). apply K; auto. apply nth_error_Some. congruence.
Qed.

Lemma lowered_inside c i v b : inside b x ->
  (forall xc, nth_error x c = Some xc -> (i < length xc)%nat -> nth i xc 0 <= val v) -> inside (lowered c i v b) x.
Proof.
  intros H K. apply update_inside2; [assumption|]. intros s xc u X U [A B]. split; simpl; [assumption|].
  rewrite val_min. apply Rmin_glb; [assumption|].
  rewrite <- (nth_nth_error _ _ _ 0 U). apply K; auto. apply nth_error_Some. congruence.
Qed.

Lemma block_of_spec (l : list block) c : forall i j bk, block_of l c i = Some (j, bk) ->
  (i <= j)%nat /\ nth_error l (j - i) = Some bk /\ place bk = c.
Proof.
  induction l as [|b l IH]; intros i j bk H; simpl in H; [discriminate|].
  destruct (Nat.eqb_spec (place b) c) as [P|P].
  - injection H as <- <-. rewrite Nat.sub_diag. auto.
  - apply IH in H. destruct H as (L & N & Q). split; [lia|]. split; [|assumption].
    replace (j - i)%nat with (S (j - S i)) by lia. assumption.
Qed.

(* A cut that is proven leaves every consistent x; if it is a contradiction, there is none. *)
Lemma cut_left_sound tolerance t rem rem' :
  (forall k, all_fit k -> tolerated (nth k tolerance []) (E k)) -> good_poses cs (weights t) ->
  cut_left cs bs tolerance t rem = Some rem' ->
  inside (fst rem) x -> snd rem = false -> inside (fst rem') x /\ snd rem' = false.
Proof.
  intros T G H I F. unfold cut_left in H.
  assert (Main : forall c i j bk v (lower : bool), on t = (c, i) -> block_of bs c 0 = Some (j, bk) ->
    (i < length (mid bk))%nat ->
    proven cs bs tolerance [(j, add_at i (if lower then one else neg one) [])] (weights t) = Some v ->
    forall xc, nth_error x c = Some xc ->
    if lower then val (nth i (mid bk) zero) + val v <= nth i xc 0 else nth i xc 0 <= val (nth i (mid bk) zero) - val v).
  { intros c i j bk v lower O B L P xc X. apply proven_spec in P; auto.
    apply block_of_spec in B. destruct B as (_ & B & PL). rewrite Nat.sub_0_r in B.
    destruct (bs_ok bk (nth_error_In _ _ B)) as (m & xc' & _ & X' & _ & L1 & L2 & _).
    rewrite PL in X'. rewrite X in X'. injection X' as <-.
    simpl in P. rewrite rdot_add_at in P. unfold Y, columns_at in P. rewrite B in P. unfold block_columns in P.
    rewrite PL, (nth_nth_error _ _ _ [] X) in P.
    assert (L3 : length xc = length (mid bk)) by congruence.
    rewrite columns_h in P by (rewrite dev_length; congruence). rewrite nth_dev in P by assumption.
    simpl rdot in P. destruct lower; rewrite ?val_neg, val_one in P; lra. }
  destruct (cside t) eqn:S.
  1,2: destruct (on t) as [c i]; destruct (block_of bs c 0) as [[j bk]|] eqn:B; [|discriminate];
    destruct (Nat.ltb i (length (mid bk))) eqn:L; [|discriminate]; apply Nat.ltb_lt in L.
  - destruct (proven _ _ _ _ _) as [v|] eqn:P; [|discriminate].
    destruct (le _ _) eqn:Q; [|discriminate]. injection H as <-. simpl. split; [|assumption].
    apply le_spec in Q. rewrite val_sub in Q. apply raised_inside; auto. intros xc X _.
    assert (K := Main c i j bk v true eq_refl B L P xc X). simpl in K. lra.
  - destruct (proven _ _ _ _ _) as [v|] eqn:P; [|discriminate].
    destruct (le _ _) eqn:Q; [|discriminate]. injection H as <-. simpl. split; [|assumption].
    apply le_spec in Q. rewrite val_sub in Q. apply lowered_inside; auto. intros xc X _.
    assert (K := Main c i j bk v false eq_refl B L P xc X). simpl in K. lra.
  - destruct (proven _ _ _ _ _) as [v|] eqn:P; [|discriminate]. apply proven_spec in P; auto. simpl in P.
    destruct (is_pos v) eqn:Q; [|discriminate]. apply is_pos_spec in Q. lra.
Qed.

Lemma cuts_left_sound tolerance cuts : forall poses r rem rem',
  (forall k, all_fit k -> tolerated (nth k tolerance []) (E k)) ->
  cuts_poses cs cuts poses = Some r -> (forall k, In k r -> all_fit k) ->
  cuts_left cs bs tolerance cuts rem = Some rem' ->
  inside (fst rem) x -> snd rem = false -> inside (fst rem') x /\ snd rem' = false.
Proof.
  induction cuts as [|t cuts IH]; intros poses r rem rem' T P G H I F; simpl in *; [injection H as <-; auto|].
  destruct (weights_poses cs (weights t) poses) as [p|] eqn:W; [|discriminate].
  destruct (cut_left cs bs tolerance t rem) as [mid'|] eqn:C; [|discriminate].
  apply cut_left_sound in C; auto.
  - destruct C as [I' F']. eapply IH; eauto.
  - eapply weights_poses_good; eauto. intros k K. apply G. apply cuts_poses_incl in P. auto.
Qed.
End Blocks.

Lemma Forall2_nth_error {A B} (P : A -> B -> Prop) l m : Forall2 P l m -> forall i a, nth_error l i = Some a ->
  exists b, nth_error m i = Some b /\ P a b.
Proof. induction 1 as [|a b l m Q H IH]; intros [|i] a' N; simpl in *; try discriminate; [injection N as <-|]; eauto.
  Qed.

Lemma covers_near center : forall radius sides v, covers center radius sides = true -> Forall2 between sides v ->
  near radius (dev v center) /\ length v = length center.
Proof.
  induction center as [|c center IH]; intros [|r radius] [|[low high] sides] v H B; simpl in H; try discriminate.
  - inversion B; subst. split; [constructor|reflexivity].
  - apply andb_true_iff in H. destruct H as [H K]. apply andb_true_iff in H. destruct H as [H1 H2].
    apply le_spec in H1. apply le_spec in H2. rewrite val_sub in H1. rewrite val_add in H2.
    inversion B as [|s u sides' v' [B1 B2] B']; subst. simpl in B1, B2.
    destruct (IH _ _ _ K B') as [N L]. simpl. split; [|congruence]. constructor; auto. apply Rabs_le. lra.
Qed.

Lemma blocks_of_ok b cs cuts shared places : forall i center radius bs,
  inside b x -> blocks_of space b cs cuts shared places i center radius = Some bs ->
  chains_at space places = Some (map of bs) /\ forall bk, In bk bs -> block_ok bk.
Proof.
  induction places as [|p places IH]; intros i center radius bs I H; simpl in H.
  - destruct center, radius; try discriminate. injection H as <-. simpl. split; [reflexivity|intros ? []].
  - destruct (nth_error space p) as [c|] eqn:Sp; [|discriminate].
    destruct (nth_error b p) as [sides|] eqn:Bp; [|discriminate].
    destruct (Nat.eqb _ _ && covers _ _ _) eqn:C; [|discriminate].
    apply andb_true_iff in C. destruct C as [C1 C2]. apply Nat.eqb_eq in C1.
    destruct (blocks_of _ _ _ _ _ places _ _ _) as [bs'|] eqn:R; [|discriminate].
    injection H as <-. apply IH in R; auto. destruct R as [R1 R2]. simpl. rewrite Sp, R1. split; [reflexivity|].
    intros bk [<-|K]; [|auto].
    destruct (Forall2_nth_error _ _ _ all_sound _ _ Sp) as (m & M & So).
    destruct (Forall2_nth_error _ _ _ I _ _ Bp) as (xc & X & Bt).
    destruct (covers_near _ _ _ _ C2 Bt) as [N L].
    exists m, xc. cbn [place of mid rad both most]. rewrite C1 in L. repeat (split; [eauto|]); auto.
Qed.

Lemma stage_left_sound b center radius who cuts cs poses r rem :
  stage_left space b center radius who cuts = Some rem ->
  chains_at space (places_of space who) = Some cs -> cuts_poses cs cuts poses = Some r ->
  (forall k, In k r -> all_fit k) -> inside b x -> inside (fst rem) x /\ snd rem = false.
Proof.
  intros H C P G I. unfold stage_left in H. rewrite C in H.
  destruct (blocks_of _ _ _ _ _ _ _ _ _) as [[|bk bs]|] eqn:B; try discriminate.
  apply blocks_of_ok in B; auto. destruct B as [B1 B2]. rewrite C in B1. injection B1 as ->.
  eapply (cuts_left_sound (bk :: bs) B2 (tolerances (of bk))); eauto.
  intros k F. destruct (B2 bk (or_introl eq_refl)) as (m & xc & M & X & [T _] & _). eapply T, F; eauto.
Qed.

Lemma not_crossed b : inside b x -> crossed b = false.
Proof.
  intros I. unfold crossed. apply not_true_is_false. intros H. apply existsb_exists in H.
  destruct H as (sides & K & H). apply existsb_exists in H. destruct H as (s & J & H). apply lt_spec in H.
  apply In_nth_error in K. destruct K as [c K]. destruct (Forall2_nth_error _ _ _ I _ _ K) as (xc & _ & F).
  apply In_nth_error in J. destruct J as [i J]. destruct (Forall2_nth_error _ _ _ F _ _ J) as (v & _ & [A B]). lra.
Qed.

(* x is in what is left; of nothing, it is not. *)
Definition left_of (b : option box) : Prop := match b with Some b => inside b x | None => False end.

Lemma what_is_left_sound rem : inside (fst rem) x -> snd rem = false -> left_of (what_is_left rem).
Proof. intros I F. unfold what_is_left. rewrite F, (not_crossed _ I). exact I. Qed.

Lemma zipped_l {A B} (P : A -> B -> Prop) (f : A -> A -> option A) :
  (forall a b c v, f a b = Some c -> P a v -> P c v) ->
  forall l m r v, zipped f l m = Some r -> Forall2 P l v -> Forall2 P r v.
Proof.
  intros F. induction l as [|a l IH]; intros [|b m] r v H K; simpl in H; try discriminate.
  - injection H as <-. assumption.
  - destruct (f a b) as [c|] eqn:Q; [|discriminate]. destruct (zipped f l m) as [n|] eqn:Z; [|discriminate].
    injection H as <-. inversion K; subst. constructor; eauto.
Qed.

Lemma zipped_r {A B} (P : A -> B -> Prop) (f : A -> A -> option A) :
  (forall a b c v, f a b = Some c -> P b v -> P c v) ->
  forall l m r v, zipped f l m = Some r -> Forall2 P m v -> Forall2 P r v.
Proof.
  intros F. induction l as [|a l IH]; intros [|b m] r v H K; simpl in H; try discriminate.
  - injection H as <-. assumption.
  - destruct (f a b) as [c|] eqn:Q; [|discriminate]. destruct (zipped f l m) as [n|] eqn:Z; [|discriminate].
    injection H as <-. inversion K; subst. constructor; eauto.
Qed.

Lemma hull_l s t r v : hull s t = Some r -> between s v -> between r v.
Proof.
  intros H [A B]. injection H as <-. unfold between. cbn [fst snd]. rewrite val_min, val_max.
  assert (K := Rmin_l (val (fst s)) (val (fst t))). assert (L := Rmax_l (val (snd s)) (val (snd t))). lra.
Qed.

Lemma hull_r s t r v : hull s t = Some r -> between t v -> between r v.
Proof.
  intros H [A B]. injection H as <-. unfold between. cbn [fst snd]. rewrite val_min, val_max.
  assert (K := Rmin_r (val (fst s)) (val (fst t))). assert (L := Rmax_r (val (snd s)) (val (snd t))). lra.
Qed.

Lemma united_sound a b u : united a b = Some u -> left_of a \/ left_of b -> left_of u.
Proof.
  intros H. destruct a as [a|], b as [b|]; simpl in H; try (injection H as <-; simpl; tauto).
  destruct (zipped (zipped hull) a b) as [r|] eqn:Z; [|discriminate]. injection H as <-. simpl. intros [K|K].
  - eapply zipped_l; eauto. intros; eapply zipped_l; eauto. apply hull_l.
  - eapply zipped_r; eauto. intros; eapply zipped_r; eauto. apply hull_r.
Qed.

Lemma links_poses_incl ls : forall poses r, links_poses space ls poses = Some r -> incl poses r.
Proof.
  induction ls as [|center radius who cuts rest IH|c i v below IB above IA rest IR]; intros poses r H; simpl in H.
  - injection H as <-. apply incl_refl.
  - destruct (chains_at _ _) as [cs|]; [|discriminate]. destruct (cuts_poses cs cuts poses) as [p|] eqn:C;
    [|discriminate].
    eapply incl_tran; [eapply cuts_poses_incl|]; eauto.
  - destruct (links_poses space below poses) as [p|] eqn:B; [|discriminate].
    destruct (links_poses space above p) as [q|] eqn:A; [|discriminate].
    eapply incl_tran; [|eapply incl_tran]; eauto.
Qed.

(* Theorem. Chains of sound tables; real unknowns x in a box that satisfy the conditions and fit every pose of which a
   row has some weight in the links, with shared errors E. Then x is in the box that the links end with; if that is
   empty, there is no such x. *)
Theorem follow_sound ls : forall b r poses used,
  follow space ls b = Some r -> links_poses space ls poses = Some used -> (forall k, In k used -> all_fit k) ->
  left_of b -> left_of r.
Proof.
  induction ls as [|center radius who cuts rest IH|c i v below IB above IA rest IR];
    intros [b|] r poses used H P G L; try (simpl in L; contradiction); simpl in H.
  - injection H as <-. exact L.
  - simpl in P. destruct (chains_at space (places_of space who)) as [cs|] eqn:C; [|discriminate].
    destruct (cuts_poses cs cuts poses) as [p|] eqn:Cu; [|discriminate].
    destruct (stage_left _ _ _ _ _ _) as [rem|] eqn:S; [|discriminate].
    destruct (stage_left_sound _ _ _ _ _ _ _ _ _ S C Cu) as [I F]; [|exact L|].
    { intros k K. apply G. eapply links_poses_incl; eauto. }
    eapply IH; eauto. apply what_is_left_sound; assumption.
  - simpl in P. destruct (links_poses space below poses) as [p|] eqn:Pb; [|discriminate].
    destruct (links_poses space above p) as [q|] eqn:Pa; [|discriminate].
    destruct (has b c i); [|discriminate].
    destruct (follow space below _) as [l|] eqn:Fb; [|discriminate].
    destruct (follow space above _) as [h|] eqn:Fa; [|discriminate].
    destruct (united l h) as [u|] eqn:U; [|discriminate].
    assert (Gq : forall k, In k q -> all_fit k) by (intros k K; apply G; eapply links_poses_incl; eauto).
    assert (Gp : forall k, In k p -> all_fit k) by (intros k K; apply Gq; eapply links_poses_incl; eauto).
    eapply IR; eauto. eapply united_sound; eauto.
    destruct (Rle_lt_dec (nth i (nth c x []) 0) (val v)) as [K|K]; [left; eapply IB|right; eapply IA]; eauto;
      apply what_is_left_sound; auto; simpl; [apply lowered_inside|apply raised_inside]; auto;
      intros xc X _; rewrite (nth_nth_error _ _ _ [] X) in K; lra.
Qed.
End Soundness.
