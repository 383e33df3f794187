(* Certificates about linear problems with bounded errors: |y − w·x| ≤ e + d·|x| for every row, and x in a box.

   What runs is [check_witness], [check_bound] and [check_empty]. What they are worth is [linear_sound], at the end:
   it speaks about all lists x of real numbers. *)
Require Import ZArith Reals Lra Lia List Bool Arith FMapPositive.
Require Import Gough.Num Gough.Rows.
Import ListNotations.
Local Open Scope R_scope.

(* The problem ------------------------------------------------------------------------------------------------------ *)

(* One row: its regressor w, the measured y, the radius e of the error of y, and the radius d of the error of w, entry
   by entry; d is [] where w is exact. *)
Record equation := Equation { regressor : list num; measured : num; radius : num; blur : list num }.

(* Both sides of one unknown; None is a side at infinity. *)
Definition side : Type := (option num * option num)%type.

(* Rows are asked for by their numbers, counted from 0. They are handed over as a function, so that the program that
   reads the file can keep them in an array; nothing is assumed about this function. *)
Record problem := Problem { prior : list side; n_rows : nat; row_at : nat -> option equation }.

Definition satisfies (r : equation) (x : list R) : Prop :=
  Rabs (val (measured r) - rdot (regressor r) x) <= val (radius r) + rdot (blur r) (map Rabs x).

Definition within (s : side) (z : R) : Prop :=
  match fst s with Some low => val low <= z | None => True end /\
  match snd s with Some high => z <= val high | None => True end.

(* x has as many entries as the box has sides, and each is within its sides. *)
Fixpoint inside (box : list side) (x : list R) : Prop :=
  match box, x with
  | [], [] => True
  | s :: box', z :: x' => within s z /\ inside box' x'
  | _, _ => False
  end.

Definition row_of (P : problem) (k : nat) (r : equation) : Prop := (k < n_rows P)%nat /\ row_at P k = Some r.

Definition consistent (P : problem) (x : list R) : Prop :=
  inside (prior P) x /\ forall k r, row_of P k r -> satisfies r x.

(* Certificates ----------------------------------------------------------------------------------------------------- *)

(* Numbers of rows with their weights. *)
Definition weights := list (nat * num).

Inductive link :=
| Step (direction : list num) (value : num) (ws : weights)          (* direction · x ≥ value *)
| Split (axis : nat) (place : num) (below above : list link)        (* the case x[axis] ≤ place, and x[axis] ≥ place *)
| Reach (bounds : list (option num)) (wss : list (option weights)). (* |x| ≤ bounds, at once for all that have one *)

(* What runs -------------------------------------------------------------------------------------------------------- *)

Definition not_negative (xs : list num) : bool := forallb (fun c => negb (is_neg c)) xs.

(* As many entries as unknowns, and no negative radius. *)
Definition well_formed (p : nat) (r : equation) : bool :=
  Nat.eqb (length (regressor r)) p && negb (is_neg (radius r)) &&
  match blur r with [] => true | d => Nat.eqb (length d) p && not_negative d end.

Definition width (P : problem) : nat := length (prior P).

Definition get (P : problem) (k : nat) : option equation :=
  if Nat.ltb k (n_rows P) then
    match row_at P k with Some r => if well_formed (width P) r then Some r else None | None => None end
  else None.

(* l · a + b *)
Fixpoint axpy (l : num) (a b : list num) : list num :=
  match a, b with
  | [], _ => b
  | _, [] => map (mul l) a
  | c :: a', z :: b' => (if is_zero c then z else add (mul l c) z) :: axpy l a' b'
  end.

(* What weighted rows say: direction · x differs from left · x + middle by at most half + blurred · |x|. *)
Record combined := Combined { left : list num; blurred : list num; middle : num; half : num }.

Definition with_row (s : combined) (l : num) (r : equation) : combined :=
  Combined (axpy (neg l) (regressor r) (left s))
    (match blur r with [] => blurred s | d => axpy (abs l) d (blurred s) end)
    (add (mul l (measured r)) (middle s)) (add (mul (abs l) (radius r)) (half s)).

(* A row of weight 0 has to exist, but nothing rests on it. *)
Fixpoint combine_rows (P : problem) (s : combined) (ws : weights) : option combined :=
  match ws with
  | [] => Some s
  | (k, l) :: rest =>
      match get P k with
      | Some r => combine_rows P (if is_zero l then s else with_row s l r) rest
      | None => None
      end
  end.

(* No number stands twice. The format demands it of rows; no theorem needs it. *)
Fixpoint all_new (seen : PositiveMap.t unit) (ks : list nat) : bool :=
  match ks with
  | [] => true
  | k :: rest =>
      let key := Pos.of_succ_nat k in
      if PositiveMap.mem key seen then false else all_new (PositiveMap.add key tt seen) rest
  end.

Definition distinct (ks : list nat) : bool := all_new (PositiveMap.empty unit) ks.

Definition combine (P : problem) (direction : list num) (ws : weights) : option combined :=
  if Nat.eqb (length direction) (width P) && distinct (map fst ws) then
    combine_rows P (Combined direction [] zero zero) ws else None.

(* The value at the end of a side *)
Definition at_end (d g z : num) : num := sub (mul d z) (mul g (abs z)).

(* The least d z − g |z| within both sides, for g ≥ 0; None if it falls without end. *)
Definition least_of (d g : num) (s : side) : option num :=
  if is_zero d && is_zero g then Some zero
  else match s with
  | (Some low, Some high) => Some (min (at_end d g low) (at_end d g high))
  | (Some low, None) => if le g d then Some (at_end d g low) else None
  | (None, Some high) => if le g (neg d) then Some (at_end d g high) else None
  | (None, None) => None
  end.

Fixpoint least (d g : list num) (box : list side) : option num :=
  match d, box with
  | [], [] => Some zero
  | c :: d', s :: box' =>
      match least_of c (hd zero g) s, least d' (tl g) box' with
      | Some m, Some rest => Some (add m rest)
      | _, _ => None
      end
  | _, _ => None
  end.

(* The largest value that the weights prove of direction · x, for x in the box. *)
Definition largest_value (P : problem) (box : list side) (direction : list num) (ws : weights) : option num :=
  match combine P direction ws with
  | Some s =>
      match least (left s) (blurred s) box with Some m => Some (add (sub (middle s) (half s)) m) | None => None end
  | None => None
  end.

(* What is known of all consistent x: the sides of a box, and whether a contradiction was found. *)
Record known := Known { sides : list side; refuted : bool }.

Definition crossed (s : side) : bool := match s with (Some low, Some high) => lt high low | _ => false end.
Definition is_empty (b : known) : bool := refuted b || existsb crossed (sides b).

Definition raise_low (v : num) (s : side) : side :=
  (Some (match fst s with Some low => max low v | None => v end), snd s).
Definition lower_high (v : num) (s : side) : side :=
  (fst s, Some (match snd s with Some high => min high v | None => v end)).

(* The part of a side where c z ≥ value, for a c that is not 0. *)
Definition tightened (c value : num) (s : side) : side :=
  if is_pos c then raise_low (reduce (div value c)) s else lower_high (reduce (div value c)) s.

(* The box where direction · x ≥ value: it is smaller if the direction has one unknown only. *)
Fixpoint tighten (direction : list num) (value : num) (box : list side) : list side :=
  match direction, box with
  | c :: rest, s :: box' =>
      if is_zero c then s :: tighten rest value box'
      else if forallb is_zero rest then tightened c value s :: box' else box
  | _, _ => box
  end.

Definition with_bound (b : known) (direction : list num) (value : num) : known :=
  if forallb is_zero direction then Known (sides b) (refuted b || is_pos value)
  else Known (tighten direction value (sides b)) (refuted b).

Definition union_side (s t : side) : side :=
  (match fst s, fst t with Some a, Some b => Some (min a b) | _, _ => None end,
   match snd s, snd t with Some a, Some b => Some (max a b) | _, _ => None end).

Fixpoint union_sides (s t : list side) : list side :=
  match s, t with a :: s', b :: t' => union_side a b :: union_sides s' t' | _, _ => [] end.

Definition union (a b : known) : known :=
  if is_empty a then b else if is_empty b then a else Known (union_sides (sides a) (sides b)) false.

Fixpoint at_axis (axis : nat) (f : side -> side) (box : list side) : list side :=
  match axis, box with
  | _, [] => []
  | O, s :: box' => f s :: box'
  | S i, s :: box' => s :: at_axis i f box'
  end.

(* The unit vector of length p along an axis, where the axes are counted from i. *)
Fixpoint unit_from (i p axis : nat) : list num :=
  match p with O => [] | S p' => (if Nat.eqb i axis then one else zero) :: unit_from (S i) p' axis end.

(* The largest |x| of each unknown: its bound, or what the box says. *)
Definition largest (b : option num) (s : side) : option num :=
  match b, s with
  | Some b, _ => Some b
  | None, (Some low, Some high) => Some (max (abs low) (abs high))
  | None, _ => None
  end.

Fixpoint all_largest (bounds : list (option num)) (box : list side) : option (list (option num)) :=
  match bounds, box with
  | [], [] => Some []
  | b :: bounds', s :: box' =>
      match all_largest bounds' box' with Some rest => Some (largest b s :: rest) | None => None end
  | _, _ => None
  end.

(* Σ (|d| + g) most *)
Fixpoint weigh (d g : list num) (most : list (option num)) : option num :=
  match d, most with
  | [], [] => Some zero
  | c :: d', m :: most' =>
      match weigh d' (tl g) most' with
      | Some rest =>
          if is_zero c && is_zero (hd zero g) then Some rest
          else match m with Some m => Some (add (mul (add (abs c) (hd zero g)) m) rest) | None => None end
      | None => None
      end
  | _, _ => None
  end.

(* Do the weights prove |x[axis]| < b if all |x| are at most most? *)
Definition reached (P : problem) (most : list (option num)) (axis : nat) (b : num) (ws : weights) : bool :=
  match combine P (unit_from 0 (width P) axis) ws with
  | Some s =>
      match weigh (left s) (blurred s) most with
      | Some m => lt (add (add (abs (middle s)) (half s)) m) b
      | None => false
      end
  | None => false
  end.

Fixpoint all_reached (P : problem) (most : list (option num)) (axis : nat) (bounds : list (option num))
    (wss : list (option weights)) : bool :=
  match bounds, wss with
  | [], [] => true
  | Some b :: bounds', Some ws :: wss' =>
      is_pos b && reached P most axis b ws && all_reached P most (S axis) bounds' wss'
  | None :: bounds', None :: wss' => all_reached P most (S axis) bounds' wss'
  | _, _ => false
  end.

Fixpoint with_reach (bounds : list (option num)) (box : list side) : list side :=
  match bounds, box with
  | Some b :: bounds', s :: box' => lower_high b (raise_low (neg b) s) :: with_reach bounds' box'
  | None :: bounds', s :: box' => s :: with_reach bounds' box'
  | _, _ => box
  end.

Definition some_bound (bounds : list (option num)) : bool :=
  existsb (fun b => match b with Some _ => true | None => false end) bounds.

(* The box that one link leaves; None if it proves less than it states. *)
Fixpoint after (P : problem) (b : known) (l : link) {struct l} : option known :=
  let follow := fix follow (b : known) (ls : list link) {struct ls} : option known :=
    match ls with
    | [] => Some b
    | l :: rest => match after P b l with Some b' => follow b' rest | None => None end
    end in
  match l with
  | Step direction value ws =>
      match largest_value P (sides b) direction ws with
      | Some proven => if le value proven then Some (with_bound b direction value) else None
      | None => None
      end
  | Split axis place below above =>
      if Nat.ltb axis (width P) then
        match follow (Known (at_axis axis (lower_high place) (sides b)) (refuted b)) below with
        | Some lower =>
            match follow (Known (at_axis axis (raise_low place) (sides b)) (refuted b)) above with
            | Some upper => Some (union lower upper)
            | None => None
            end
        | None => None
        end
      else None
  | Reach bounds wss =>
      if some_bound bounds then
        match all_largest bounds (sides b) with
        | Some most =>
            if all_reached P most 0 bounds wss then Some (Known (with_reach bounds (sides b)) (refuted b)) else None
        | None => None
        end
      else None
  end.

Definition follow (P : problem) : known -> list link -> option known :=
  fix follow (b : known) (ls : list link) {struct ls} : option known :=
    match ls with
    | [] => Some b
    | l :: rest => match after P b l with Some b' => follow b' rest | None => None end
    end.

Definition of_prior (P : problem) : known := Known (prior P) false.

Definition is_step (l : link) : bool := match l with Step _ _ _ => true | _ => false end.

(* Every consistent x is in the box that this returns, and satisfies all steps of the chain that stand in no case. *)
Definition check_bound (P : problem) (ls : list link) : option known :=
  if existsb is_step ls then follow P (of_prior P) ls else None.

(* No x is consistent. *)
Definition check_empty (P : problem) (ls : list link) : bool :=
  match ls with
  | [] => false
  | _ => match follow P (of_prior P) ls with Some b => is_empty b | None => false end
  end.

Definition within_num (s : side) (z : num) : bool :=
  match fst s with Some low => le low z | None => true end && match snd s with Some high => le z high | None => true end.

Fixpoint inside_num (box : list side) (x : list num) : bool :=
  match box, x with
  | [], [] => true
  | s :: box', z :: x' => within_num s z && inside_num box' x'
  | _, _ => false
  end.

Definition satisfies_num (x sizes : list num) (r : equation) : bool :=
  le (abs (sub (measured r) (ndot (regressor r) x))) (add (radius r) (ndot (blur r) sizes)).

Fixpoint all_below (n : nat) (f : nat -> bool) : bool :=
  match n with O => true | S m => if f m then all_below m f else false end.

(* The point x is consistent. *)
Definition check_witness (P : problem) (x : list num) : bool :=
  let sizes := map abs x in
  inside_num (prior P) x &&
  all_below (n_rows P) (fun k => match get P k with Some r => satisfies_num x sizes r | None => false end).

(* Why it is true --------------------------------------------------------------------------------------------------- *)

Definition holds_in (b : known) (x : list R) : Prop := refuted b = false /\ inside (sides b) x.

(* x satisfies all rows on which these weights rest. *)
Definition rests (P : problem) (x : list R) (ws : weights) : Prop :=
  forall k l r, In (k, l) ws -> val l <> 0 -> row_of P k r -> satisfies r x.

Definition nonneg (g : list num) : Prop := Forall (fun c => 0 <= val c) g.

Lemma is_zero_false x : is_zero x = false -> val x <> 0.
Proof. intros H K. apply is_zero_spec in K. congruence. Qed.

Lemma is_pos_false x : is_pos x = false -> val x <= 0.
Proof. intros H. destruct (Rle_lt_dec (val x) 0) as [K|K]; [assumption|]. apply is_pos_spec in K. congruence. Qed.

Lemma not_negative_spec xs : not_negative xs = true -> nonneg xs.
Proof.
  unfold not_negative, nonneg. intros H. rewrite forallb_forall in H. apply Forall_forall. intros c Hc.
  apply H in Hc. apply negb_true_iff in Hc. apply is_neg_false. assumption.
Qed.

Lemma rdot_nil_r a : rdot a [] = 0.
Proof. destruct a; reflexivity. Qed.

Lemma rdot_scale l a : forall x, rdot (map (mul l) a) x = val l * rdot a x.
Proof. induction a as [|c a IH]; intros [|z x]; simpl; try lra. rewrite IH, val_mul. lra. Qed.

Lemma rdot_axpy l a : forall b x, rdot (axpy l a b) x = val l * rdot a x + rdot b x.
Proof.
  induction a as [|c a IH]; intros [|z b] [|s x]; simpl; try lra.
  - rewrite val_mul, rdot_scale. lra.
  - rewrite IH. destruct (is_zero c) eqn:E; [apply is_zero_spec in E; rewrite E; lra|].
    rewrite val_add, val_mul. lra.
Qed.

Lemma nonneg_axpy l a : forall b, 0 <= val l -> nonneg a -> nonneg b -> nonneg (axpy l a b).
Proof.
  unfold nonneg. induction a as [|c a IH]; intros [|z b] L A B; simpl; auto; inversion A; subst.
  - constructor; [rewrite val_mul; apply Rmult_le_pos; auto|].
    apply Forall_forall. intros t T. apply in_map_iff in T. destruct T as [u [E U]]. subst t. rewrite val_mul.
    apply Rmult_le_pos; auto. rewrite Forall_forall in H2. auto.
  - inversion B; subst. constructor; [|apply IH; auto]. destruct (is_zero c); auto. rewrite val_add, val_mul.
    assert (0 <= val l * val c) by (apply Rmult_le_pos; auto). lra.
Qed.

Lemma nonneg_rdot g : forall x, nonneg g -> 0 <= rdot g (map Rabs x).
Proof.
  induction g as [|c g IH]; intros [|z x] H; simpl; try lra. inversion H; subst.
  assert (0 <= val c * Rabs z) by (apply Rmult_le_pos; auto using Rabs_pos). specialize (IH x H3). lra.
Qed.

Lemma get_spec P k r : get P k = Some r -> row_of P k r /\ well_formed (width P) r = true.
Proof.
  unfold get, row_of. destruct (Nat.ltb_spec k (n_rows P)) as [H|H]; [|discriminate].
  destruct (row_at P k) as [s|]; [|discriminate]. destruct (well_formed (width P) s) eqn:E; [|discriminate].
  intros K. injection K as ->. auto.
Qed.

Lemma well_formed_spec p r : well_formed p r = true -> 0 <= val (radius r) /\ nonneg (blur r).
Proof.
  unfold well_formed. intros H. apply andb_true_iff in H. destruct H as [H B]. apply andb_true_iff in H.
  destruct H as [_ E]. apply negb_true_iff, is_neg_false in E. split; [assumption|].
  destruct (blur r); [constructor|]. apply andb_true_iff in B. apply not_negative_spec, B.
Qed.

(* The invariant of [combined]. *)
Definition says (c : list num) (x : list R) (s : combined) : Prop :=
  Rabs (rdot c x - rdot (left s) x - val (middle s)) <= val (half s) + rdot (blurred s) (map Rabs x).

Lemma blur_axpy l r g x : rdot (match blur r with [] => g | d => axpy l d g end) x = val l * rdot (blur r) x + rdot g x.
Proof. destruct (blur r) eqn:E; [simpl; lra|]. rewrite <- E. apply rdot_axpy. Qed.

Lemma with_row_says c x s l r : satisfies r x -> says c x s -> says c x (with_row s l r).
Proof.
  unfold says, satisfies, with_row. intros H K. cbn [left blurred middle half].
  rewrite blur_axpy, rdot_axpy, !val_add, !val_mul, val_neg, val_abs.
  set (t := rdot c x) in *. set (u := rdot (left s) x) in *. set (v := rdot (regressor r) x) in *.
  replace (t - (- val l * v + u) - (val l * val (measured r) + val (middle s)))
    with (t - u - val (middle s) + - (val l * (val (measured r) - v))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, Rabs_mult.
  assert (Rabs (val l) * Rabs (val (measured r) - v) <= Rabs (val l) * (val (radius r) + rdot (blur r) (map Rabs x)))
    by (apply Rmult_le_compat_l; auto using Rabs_pos).
  lra.
Qed.

Lemma with_row_nonneg s l r p : well_formed p r = true ->
  0 <= val (half s) /\ nonneg (blurred s) -> 0 <= val (half (with_row s l r)) /\ nonneg (blurred (with_row s l r)).
Proof.
  intros W [H B]. apply well_formed_spec in W. destruct W as [E D]. unfold with_row; cbn [blurred half]. split.
  - rewrite val_add, val_mul, val_abs. assert (0 <= Rabs (val l) * val (radius r)); [|lra].
    apply Rmult_le_pos; auto using Rabs_pos.
  - destruct (blur r) eqn:F; auto. rewrite <- F in *. apply nonneg_axpy; auto. rewrite val_abs. apply Rabs_pos.
Qed.

Lemma combine_rows_spec P c x ws : forall s t, rests P x ws -> combine_rows P s ws = Some t ->
  says c x s /\ 0 <= val (half s) /\ nonneg (blurred s) -> says c x t /\ 0 <= val (half t) /\ nonneg (blurred t).
Proof.
  induction ws as [|[k l] ws IH]; intros s t R E [S N]; simpl in E; [injection E as <-; auto|].
  destruct (get P k) as [r|] eqn:G; [|discriminate]. apply get_spec in G. destruct G as [G W].
  eapply IH; [|apply E|].
  - intros k' l' r' I. apply R. right. assumption.
  - destruct (is_zero l) eqn:Z; auto. split; [|eapply with_row_nonneg; eauto].
    apply with_row_says; auto. eapply R; [left; reflexivity|apply is_zero_false, Z|apply G].
Qed.

(* What the weights say is true of every x that satisfies the rows on which they rest. *)
Lemma combine_spec P c x ws t : rests P x ws -> combine P c ws = Some t ->
  says c x t /\ 0 <= val (half t) /\ nonneg (blurred t).
Proof.
  unfold combine. destruct (_ && _); [|discriminate]. intros R E. eapply combine_rows_spec; eauto.
  unfold says; simpl. rewrite val_zero. repeat split; [|lra|constructor].
  replace (rdot c x - rdot c x - 0) with 0 by ring. rewrite Rabs_R0. lra.
Qed.

(* d z − g |z| is concave for g ≥ 0 *)
Lemma least_of_spec d g s z m : 0 <= val g -> within s z -> least_of d g s = Some m ->
  val m <= val d * z - val g * Rabs z.
Proof.
  intros G [L H]. unfold least_of. destruct (is_zero d && is_zero g) eqn:E.
  { apply andb_true_iff in E. destruct E as [D F]. apply is_zero_spec in D. apply is_zero_spec in F.
    intros K. injection K as <-. rewrite val_zero, D, F. lra. }
  clear E. assert (A := Rle_abs z). assert (B := Rle_abs (- z)). rewrite Rabs_Ropp in B.
  destruct s as [[low|] [high|]]; simpl in *; intros K.
  - injection K as <-. rewrite val_min. unfold at_end. rewrite !val_sub, !val_mul, !val_abs.
    destruct (Req_dec (val g) 0) as [E|E].
    + rewrite E. destruct (Rle_lt_dec 0 (val d)).
      * eapply Rle_trans; [apply Rmin_l|]. assert (val d * val low <= val d * z) by (apply Rmult_le_compat_l; lra). lra.
      * eapply Rle_trans; [apply Rmin_r|].
        assert (val d * val high <= val d * z) by (apply Rmult_le_compat_neg_l; lra). lra.
    + set (q := val d / val g).
      assert (D : val d = val g * q) by (unfold q; field; assumption).
      assert (C := convex_abs q _ _ _ (conj L H)).
      assert (M : val g * (Rabs z - q * z) <=
        val g * Rmax (Rabs (val low) - q * val low) (Rabs (val high) - q * val high))
        by (apply Rmult_le_compat_l; assumption).
      rewrite D. destruct (Rle_lt_dec (Rabs (val low) - q * val low) (Rabs (val high) - q * val high)).
      * rewrite Rmax_right in M by assumption. eapply Rle_trans; [apply Rmin_r|]. lra.
      * rewrite Rmax_left in M by lra. eapply Rle_trans; [apply Rmin_l|]. lra.
  - destruct (le g d) eqn:E; [|discriminate]. apply le_spec in E. injection K as <-. unfold at_end.
    rewrite val_sub, !val_mul, val_abs. assert (T := Rabs_triang_inv z (val low)).
    assert (T2 : Rabs (z - val low) = z - val low) by (apply Rabs_pos_eq; lra).
    assert (val g * (Rabs z - Rabs (val low)) <= val g * (z - val low)) by (apply Rmult_le_compat_l; lra).
    assert (val g * (z - val low) <= val d * (z - val low)) by (apply Rmult_le_compat_r; lra). lra.
  - destruct (le g (neg d)) eqn:E; [|discriminate]. apply le_spec in E. rewrite val_neg in E. injection K as <-.
    unfold at_end. rewrite val_sub, !val_mul, val_abs. assert (T := Rabs_triang_inv z (val high)).
    assert (T2 : Rabs (z - val high) = val high - z) by (rewrite Rabs_left1; lra).
    assert (val g * (Rabs z - Rabs (val high)) <= val g * (val high - z)) by (apply Rmult_le_compat_l; lra).
    assert (val g * (val high - z) <= - val d * (val high - z)) by (apply Rmult_le_compat_r; lra). lra.
  - discriminate.
Qed.

Lemma nonneg_hd g : nonneg g -> 0 <= val (hd zero g) /\ nonneg (tl g).
Proof. intros H. destruct H; simpl; auto. rewrite val_zero. split; [lra|constructor]. Qed.

Lemma rdot_hd g z x : rdot g (z :: x) = val (hd zero g) * z + rdot (tl g) x.
Proof. destruct g; simpl; [rewrite val_zero|]; lra. Qed.

Lemma least_spec d : forall g box x m, nonneg g -> inside box x -> least d g box = Some m ->
  val m <= rdot d x - rdot g (map Rabs x).
Proof.
  induction d as [|c d IH]; intros g [|s box] x m G I E; simpl in E; try discriminate.
  - destruct x; [|contradiction]. injection E as <-. rewrite val_zero. simpl. rewrite rdot_nil_r. lra.
  - destruct x as [|z x]; [contradiction|]. destruct I as [Z I]. apply nonneg_hd in G. destruct G as [G H].
    destruct (least_of c (hd zero g) s) as [a|] eqn:A; [|discriminate].
    destruct (least d (tl g) box) as [b|] eqn:B; [|discriminate]. injection E as <-.
    assert (K := least_of_spec _ _ _ _ _ G Z A). assert (L := IH _ _ _ _ H I B).
    rewrite val_add. change (map Rabs (z :: x)) with (Rabs z :: map Rabs x). rewrite (rdot_hd g). cbn [rdot]. lra.
Qed.

Theorem largest_value_spec P box c ws v x : inside box x -> rests P x ws -> largest_value P box c ws = Some v ->
  val v <= rdot c x.
Proof.
  unfold largest_value. intros I R E. destruct (combine P c ws) as [s|] eqn:C; [|discriminate].
  destruct (least (left s) (blurred s) box) as [m|] eqn:L; [|discriminate]. injection E as <-.
  destruct (combine_spec _ _ _ _ _ R C) as [S [_ N]]. assert (K := least_spec _ _ _ _ _ N I L).
  unfold says in S. rewrite val_add, val_sub.
  assert (T := Rle_abs (- (rdot c x - rdot (left s) x - val (middle s)))). rewrite Rabs_Ropp in T. lra.
Qed.

Lemma inside_length box : forall x, inside box x -> length x = length box.
Proof. induction box as [|s box IH]; intros [|z x] H; simpl in *; try contradiction; auto. f_equal. apply IH, H. Qed.

Lemma within_raise v s z : within s z -> val v <= z -> within (raise_low v s) z.
Proof.
  intros [L H] K. unfold raise_low, within; simpl. split; [|assumption].
  destruct (fst s); [|assumption]. rewrite val_max. apply Rmax_lub; assumption.
Qed.

Lemma within_lower v s z : within s z -> z <= val v -> within (lower_high v s) z.
Proof.
  intros [L H] K. unfold lower_high, within; simpl. split; [assumption|].
  destruct (snd s); [|assumption]. rewrite val_min. apply Rmin_glb; assumption.
Qed.

Lemma within_tightened c v s z : within s z -> val c <> 0 -> val v <= val c * z -> within (tightened c v s) z.
Proof.
  intros W N K. unfold tightened. destruct (is_pos c) eqn:E.
  - apply is_pos_spec in E. apply within_raise; auto. rewrite val_reduce, val_div by assumption.
    apply Rmult_le_reg_l with (val c); [assumption|]. replace (val c * (val v / val c)) with (val v); [lra|field; lra].
  - apply is_pos_false in E. apply within_lower; auto. rewrite val_reduce, val_div by assumption.
    apply Rmult_le_reg_l with (- val c); [lra|].
    replace (- val c * (val v / val c)) with (- val v); [lra|field; lra].
Qed.

Lemma all_zero c : forall x, forallb is_zero c = true -> rdot c x = 0.
Proof.
  induction c as [|a c IH]; intros [|z x] H; simpl in *; try lra. apply andb_true_iff in H. destruct H as [A H].
  apply is_zero_spec in A. rewrite A, IH by assumption. ring.
Qed.

Lemma inside_tighten c v : forall box x, inside box x -> val v <= rdot c x -> inside (tighten c v box) x.
Proof.
  induction c as [|a c IH]; intros [|s box] x I K; simpl; auto. destruct x as [|z x]; [contradiction|].
  destruct I as [W I]. simpl in K. destruct (is_zero a) eqn:E.
  - apply is_zero_spec in E. split; auto. apply IH; auto. rewrite E in K. lra.
  - destruct (forallb is_zero c) eqn:F; [|split; auto].
    rewrite (all_zero c x F) in K. split; auto. apply within_tightened; auto using is_zero_false. lra.
Qed.

Lemma with_bound_spec b c v x : holds_in b x -> val v <= rdot c x -> holds_in (with_bound b c v) x.
Proof.
  intros [F I] K. unfold with_bound. destruct (forallb is_zero c) eqn:Z; split; simpl; auto using inside_tighten.
  rewrite F. rewrite (all_zero c x Z) in K. destruct (is_pos v) eqn:P; auto. apply is_pos_spec in P. lra.
Qed.

Lemma crossed_spec s z : crossed s = true -> ~ within s z.
Proof.
  destruct s as [[low|] [high|]]; simpl; try discriminate. intros H [L U]. simpl in *. apply lt_spec in H. lra.
Qed.

Lemma is_empty_spec b x : is_empty b = true -> ~ holds_in b x.
Proof.
  unfold is_empty. intros H [F I]. rewrite F in H. simpl in H. revert x I.
  induction (sides b) as [|s box IH]; intros x I; [discriminate|]. destruct x as [|z x]; [contradiction|].
  destruct I as [W I]. simpl in H. destruct (crossed s) eqn:C; [eapply crossed_spec; eauto|].
  eapply IH; eauto.
Qed.

Lemma union_side_spec s t z : within s z \/ within t z -> within (union_side s t) z.
Proof.
  unfold within, union_side. cbn [fst snd]. intros H. split.
  - destruct (fst s) as [a|], (fst t) as [c|]; auto. rewrite val_min.
    assert (K := Rmin_l (val a) (val c)). assert (L := Rmin_r (val a) (val c)). destruct H as [[H _]|[H _]]; lra.
  - destruct (snd s) as [a|], (snd t) as [c|]; auto. rewrite val_max.
    assert (K := Rmax_l (val a) (val c)). assert (L := Rmax_r (val a) (val c)). destruct H as [[_ H]|[_ H]]; lra.
Qed.

Lemma union_sides_spec s : forall t x, length s = length t -> inside s x \/ inside t x -> inside (union_sides s t) x.
Proof.
  induction s as [|a s IH]; intros [|b t] x L H; simpl in *; try discriminate.
  - tauto.
  - destruct x as [|z x]; [tauto|]. split; [apply union_side_spec; tauto|]. apply IH; [congruence|tauto].
Qed.

Lemma union_spec a b x : length (sides a) = length (sides b) -> holds_in a x \/ holds_in b x -> holds_in (union a b) x.
Proof.
  intros L H. unfold union. destruct (is_empty a) eqn:A.
  { destruct H as [H|H]; [exfalso; eapply is_empty_spec; eauto|assumption]. }
  destruct (is_empty b) eqn:B.
  { destruct H as [H|H]; [assumption|exfalso; eapply is_empty_spec; eauto]. }
  split; auto. simpl. apply union_sides_spec; auto. unfold holds_in in H. tauto.
Qed.

Lemma at_axis_spec f z0 axis : forall box x, inside box x ->
  (forall s, within s (nth axis x z0) -> within (f s) (nth axis x z0)) -> inside (at_axis axis f box) x.
Proof.
  induction axis as [|i IH]; intros [|s box] [|z x] I K; simpl in *; try tauto.
  - destruct I. split; auto.
  - destruct I. split; auto.
Qed.

Lemma at_axis_length f axis : forall box, length (at_axis axis f box) = length box.
Proof. induction axis as [|i IH]; intros [|s box]; simpl; auto. Qed.

Lemma tighten_length c v : forall box, length (tighten c v box) = length box.
Proof.
  induction c as [|a c IH]; intros [|s box]; simpl; auto. destruct (is_zero a); simpl; auto.
  destruct (forallb is_zero c); auto.
Qed.

Lemma with_reach_length bounds : forall box, length (with_reach bounds box) = length box.
Proof. induction bounds as [|[b|] bounds IH]; intros [|s box]; simpl; auto. Qed.

Lemma union_sides_length s : forall t, length s = length t -> length (union_sides s t) = length s.
Proof. induction s as [|a s IH]; intros [|b t] H; simpl in *; auto; discriminate || (f_equal; auto). Qed.

(* Reach *)

Lemma rdot_zeros i p axis : forall x, (axis < i)%nat -> rdot (unit_from i p axis) x = 0.
Proof.
  revert i. induction p as [|p IH]; intros i [|z x] H; simpl; try lra.
  destruct (Nat.eqb_spec i axis); [lia|]. rewrite val_zero, IH by lia. ring.
Qed.

Lemma rdot_unit p : forall i axis x, (i <= axis)%nat -> length x = p -> (axis - i < p)%nat ->
  rdot (unit_from i p axis) x = nth (axis - i) x 0.
Proof.
  induction p as [|p IH]; intros i axis [|z x] H L K; simpl in *; try lia; try discriminate.
  destruct (Nat.eqb_spec i axis) as [E|E].
  - subst. rewrite Nat.sub_diag, val_one, rdot_zeros by lia. lra.
  - rewrite val_zero, IH by lia. replace (axis - i)%nat with (S (axis - S i)) by lia. simpl. lra.
Qed.

(* |z| ≤ s · m for all entries that have an m *)
Fixpoint at_most (s : R) (most : list (option num)) (x : list R) : Prop :=
  match most, x with
  | [], [] => True
  | m :: most', z :: x' => match m with Some m => Rabs z <= s * val m | None => True end /\ at_most s most' x'
  | _, _ => False
  end.

Lemma weigh_spec d : forall g s most x v, nonneg g -> at_most s most x -> weigh d g most = Some v ->
  Rabs (rdot d x) + rdot g (map Rabs x) <= s * val v.
Proof.
  induction d as [|c d IH]; intros g s [|m most] x v G A E; simpl in E; try discriminate.
  - destruct x; [|contradiction]. injection E as <-. simpl. rewrite rdot_nil_r, Rabs_R0, val_zero. lra.
  - destruct x as [|z x]; [contradiction|]. destruct A as [Z A]. apply nonneg_hd in G. destruct G as [G H].
    destruct (weigh d (tl g) most) as [rest|] eqn:W; [|discriminate].
    assert (K := IH _ _ _ _ _ H A W). change (map Rabs (z :: x)) with (Rabs z :: map Rabs x).
    rewrite (rdot_hd g). cbn [rdot]. assert (T := Rabs_triang (val c * z) (rdot d x)). rewrite Rabs_mult in T.
    destruct (is_zero c && is_zero (hd zero g)) eqn:Q.
    + apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply is_zero_spec in Q1. apply is_zero_spec in Q2.
      injection E as <-. rewrite Q1, Rabs_R0 in T. rewrite Q1, Q2. lra.
    + destruct m as [m|]; [|discriminate]. injection E as <-. rewrite val_add, val_mul, val_add, val_abs.
      assert (L : (Rabs (val c) + val (hd zero g)) * Rabs z <= (Rabs (val c) + val (hd zero g)) * (s * val m)).
      { apply Rmult_le_compat_l; auto. assert (P := Rabs_pos (val c)). lra. }
      lra.
Qed.

(* |z| ≤ s · b for all that have a bound *)
Fixpoint in_reach (s : R) (bounds : list (option num)) (x : list R) : Prop :=
  match bounds, x with
  | b :: bounds', z :: x' => match b with Some b => Rabs z <= s * val b | None => True end /\ in_reach s bounds' x'
  | _, _ => True
  end.

(* One of them is attained, from axis i on. *)
Definition attained (s : R) (bounds : list (option num)) (x : list R) (i : nat) (b : num) : Prop :=
  nth_error bounds i = Some (Some b) /\ (i < length x)%nat /\ Rabs (nth i x 0) = s * val b.

Lemma in_reach_more s t bounds : forall x, s <= t -> Forall (fun b => match b with Some b => 0 < val b | None => True end) bounds ->
  in_reach s bounds x -> in_reach t bounds x.
Proof.
  induction bounds as [|[b|] bounds IH]; intros [|z x] L P H; simpl in *; auto; inversion P; subst; destruct H; split; auto.
  assert (s * val b <= t * val b) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* The largest of 1 and the ratios |z| / b *)
Lemma largest_ratio bounds : forall x,
  Forall (fun b => match b with Some b => 0 < val b | None => True end) bounds ->
  exists s, 1 <= s /\ in_reach s bounds x /\ (s = 1 \/ exists i b, attained s bounds x i b).
Proof.
  induction bounds as [|b bounds IH]; intros x P.
  { exists 1. simpl. repeat split; auto; lra. }
  destruct x as [|z x]. { exists 1. simpl. repeat split; auto; lra. }
  assert (Q := P). inversion P; subst. destruct (IH x H2) as [s [S [R T]]].
  assert (Old : (s = 1 \/ exists i b', attained s (b :: bounds) (z :: x) i b')).
  { destruct T as [T|[i [b' [A [B C]]]]]; auto. right. exists (Datatypes.S i), b'. unfold attained; simpl. repeat split; auto. lia. }
  destruct b as [b|].
  - destruct (Rle_lt_dec (Rabs z) (s * val b)) as [L|L].
    + exists s. simpl. auto.
    + exists (Rabs z / val b). assert (N : Rabs z = Rabs z / val b * val b) by (field; lra).
      assert (B : s < Rabs z / val b).
      { apply Rmult_lt_reg_r with (val b); [assumption|]. rewrite <- N. assumption. }
      split; [lra|]. split.
      * split; [lra|]. apply in_reach_more with s; auto. lra.
      * right. exists O, b. unfold attained; simpl. repeat split; auto. lia.
  - exists s. simpl. auto.
Qed.

Lemma largest_spec bounds : forall box x s most, inside box x -> 1 <= s -> in_reach s bounds x ->
  all_largest bounds box = Some most -> at_most s most x.
Proof.
  induction bounds as [|b bounds IH]; intros [|t box] [|z x] s most I S R E; simpl in E; try discriminate;
    try contradiction.
  - injection E as <-. exact I.
  - destruct (all_largest bounds box) as [rest|] eqn:F; [|discriminate]. injection E as <-.
    destruct I as [W I]. destruct R as [R1 R2]. split; [|eapply IH; eauto].
    destruct b as [b|]; simpl; auto. destruct t as [[low|] [high|]]; simpl; auto.
    destruct W as [L H]. simpl in *. rewrite val_max, !val_abs.
    assert (A := Rmax_l (Rabs (val low)) (Rabs (val high))). assert (B := Rmax_r (Rabs (val low)) (Rabs (val high))).
    set (M := Rmax _ _) in *.
    assert (C : Rabs z <= M).
    { apply Rabs_le. assert (X := Rle_abs (val high)). assert (Y := Rle_abs (- val low)). rewrite Rabs_Ropp in Y. lra. }
    assert (0 <= M) by (assert (X := Rabs_pos z); lra).
    assert (1 * M <= s * M) by (apply Rmult_le_compat_r; assumption). lra.
Qed.

Lemma all_reached_spec P most bounds : forall axis wss, all_reached P most axis bounds wss = true ->
  Forall (fun b => match b with Some b => 0 < val b | None => True end) bounds /\
  forall i b, nth_error bounds i = Some (Some b) -> exists ws, In (Some ws) wss /\ reached P most (axis + i) b ws = true.
Proof.
  induction bounds as [|[b|] bounds IH]; intros axis [|[ws|] wss] H; simpl in H; try discriminate.
  - split; [constructor|]. intros [|i] b E; discriminate.
  - apply andb_true_iff in H. destruct H as [H R]. apply andb_true_iff in H. destruct H as [H Q].
    destruct (IH _ _ R) as [F G]. split; [constructor; auto; apply is_pos_spec, H|].
    intros [|i] c E; simpl in E.
    + injection E as <-. exists ws. rewrite Nat.add_0_r. split; [left; reflexivity|assumption].
    + destruct (G i c E) as [us [I U]]. exists us. rewrite <- Nat.add_succ_comm. split; [right; assumption|assumption].
  - destruct (IH _ _ H) as [F G]. split; [constructor; auto|].
    intros [|i] c E; simpl in E; [discriminate|].
    destruct (G i c E) as [us [I U]]. exists us. rewrite <- Nat.add_succ_comm. split; [right; assumption|assumption].
Qed.

Lemma with_reach_spec bounds : forall box x, inside box x -> in_reach 1 bounds x -> inside (with_reach bounds box) x.
Proof.
  induction bounds as [|[b|] bounds IH]; intros [|s box] x I R; simpl; auto; destruct x as [|z x]; try contradiction;
    destruct I as [W I]; destruct R as [R1 R2]; split; auto.
  assert (A := Rle_abs z). assert (B := Rle_abs (- z)). rewrite Rabs_Ropp in B.
  apply within_lower; [apply within_raise; auto; rewrite val_neg; lra|lra].
Qed.

(* Were the largest ratio s = |x_i| / b_i above 1, then s b_i ≤ r_i + s (G b)_i ≤ s (r_i + (G b)_i) < s b_i. *)
Theorem reach_spec P box bounds wss most x : inside box x -> length box = width P ->
  (forall ws, In (Some ws) wss -> rests P x ws) ->
  all_largest bounds box = Some most -> all_reached P most 0 bounds wss = true -> in_reach 1 bounds x.
Proof.
  intros I W R L A. apply all_reached_spec in A. destruct A as [F A].
  destruct (largest_ratio bounds x F) as [s [S [K [E|[i [b [N [X T]]]]]]]]; [subst; assumption|].
  exfalso. assert (M := largest_spec _ _ _ _ _ I S K L).
  destruct (A i b N) as [ws [J Q]]. simpl in Q. unfold reached in Q.
  destruct (combine P _ ws) as [c|] eqn:C; [|discriminate].
  destruct (weigh (left c) (blurred c) most) as [v|] eqn:V; [|discriminate]. apply lt_spec in Q.
  rewrite !val_add, val_abs in Q.
  destruct (combine_spec _ _ _ _ _ (R ws J) C) as [Y [H G]].
  assert (Z := weigh_spec _ _ _ _ _ _ G M V). unfold says in Y.
  assert (D := inside_length _ _ I). rewrite rdot_unit in Y by lia. rewrite Nat.sub_0_r in Y.
  assert (T1 := Rabs_triang (nth i x 0 - rdot (left c) x - val (middle c)) (rdot (left c) x + val (middle c))).
  replace (nth i x 0 - rdot (left c) x - val (middle c) + (rdot (left c) x + val (middle c))) with (nth i x 0) in T1
    by ring.
  assert (T2 := Rabs_triang (rdot (left c) x) (val (middle c))).
  assert (U := Rabs_pos (val (middle c))).
  assert (1 * (Rabs (val (middle c)) + val (half c)) <= s * (Rabs (val (middle c)) + val (half c)))
    by (apply Rmult_le_compat_r; lra).
  assert (s * (Rabs (val (middle c)) + val (half c) + val v) < s * val b) by (apply Rmult_lt_compat_l; lra).
  lra.
Qed.

(* Chains *)

Section LinkInduction.
  Variable Q : link -> Prop.
  Hypothesis step : forall c v ws, Q (Step c v ws).
  Hypothesis split : forall axis place below above, Forall Q below -> Forall Q above -> Q (Split axis place below above).
  Hypothesis reach : forall bounds wss, Q (Reach bounds wss).

  Fixpoint link_induction (l : link) : Q l :=
    let all := fix all (ls : list link) : Forall Q ls :=
      match ls with [] => Forall_nil Q | l :: rest => Forall_cons l (link_induction l) (all rest) end in
    match l with
    | Step c v ws => step c v ws
    | Split axis place below above => split axis place below above (all below) (all above)
    | Reach bounds wss => reach bounds wss
    end.
End LinkInduction.

Definition wide (P : problem) (b : known) : Prop := length (sides b) = width P.

Definition link_sound (P : problem) (l : link) : Prop :=
  forall b b', wide P b -> after P b l = Some b' ->
  wide P b' /\ forall x, consistent P x -> holds_in b x -> holds_in b' x.

Lemma after_split P b axis place below above :
  after P b (Split axis place below above) =
  if Nat.ltb axis (width P) then
    match follow P (Known (at_axis axis (lower_high place) (sides b)) (refuted b)) below with
    | Some lower =>
        match follow P (Known (at_axis axis (raise_low place) (sides b)) (refuted b)) above with
        | Some upper => Some (union lower upper)
        | None => None
        end
    | None => None
    end
  else None.
Proof. reflexivity. Qed.

Lemma follow_sound P ls : Forall (link_sound P) ls -> forall b b', wide P b -> follow P b ls = Some b' ->
  wide P b' /\ forall x, consistent P x -> holds_in b x -> holds_in b' x.
Proof.
  intros H. induction H as [|l ls L H IH]; intros b b' W E; simpl in E; [injection E as <-; auto|].
  destruct (after P b l) as [c|] eqn:A; [|discriminate].
  destruct (L _ _ W A) as [V K]. destruct (IH _ _ V E) as [U M]. auto.
Qed.

Lemma consistent_rests P x ws : consistent P x -> rests P x ws.
Proof. intros [_ C] k l r _ _ R. eapply C; eauto. Qed.

Theorem after_sound P : forall l, link_sound P l.
Proof.
  apply link_induction.
  - intros c v ws b b' W E. simpl in E. destruct (largest_value P (sides b) c ws) as [m|] eqn:M; [|discriminate].
    destruct (le v m) eqn:L; [|discriminate]. injection E as <-. apply le_spec in L. split.
    + unfold wide, with_bound in *. destruct (forallb is_zero c); simpl; auto. rewrite tighten_length. assumption.
    + intros x C H. apply with_bound_spec; auto. destruct H as [_ I].
      assert (K := largest_value_spec _ _ _ _ _ _ I (consistent_rests _ _ ws C) M). lra.
  - intros axis place below above B A b b' W E. rewrite after_split in E.
    destruct (Nat.ltb axis (width P)); [|discriminate].
    destruct (follow P _ below) as [lower|] eqn:FB; [|discriminate].
    destruct (follow P _ above) as [upper|] eqn:FA; [|discriminate]. injection E as <-.
    apply follow_sound in FB; auto; [|unfold wide in *; simpl; rewrite at_axis_length; assumption].
    apply follow_sound in FA; auto; [|unfold wide in *; simpl; rewrite at_axis_length; assumption].
    destruct FB as [WB FB], FA as [WA FA]. split.
    + unfold wide, union in *. destruct (is_empty lower); auto. destruct (is_empty upper); auto. simpl.
      rewrite union_sides_length; congruence.
    + intros x C [F I]. apply union_spec; [unfold wide in *; congruence|].
      destruct (Rle_lt_dec (nth axis x 0) (val place)) as [K|K].
      * left. apply FB; auto. split; auto. simpl. apply at_axis_spec with 0; auto. intros s S. apply within_lower; auto.
      * right. apply FA; auto. split; auto. simpl. apply at_axis_spec with 0; auto. intros s S.
        apply within_raise; auto. lra.
  - intros bounds wss b b' W E. simpl in E. destruct (some_bound bounds); [|discriminate].
    destruct (all_largest bounds (sides b)) as [most|] eqn:M; [|discriminate].
    destruct (all_reached P most 0 bounds wss) eqn:A; [|discriminate]. injection E as <-. split.
    + unfold wide in *. simpl. rewrite with_reach_length. assumption.
    + intros x C [F I]. split; auto. simpl. apply with_reach_spec; auto.
      eapply reach_spec; eauto. intros ws _. apply consistent_rests, C.
Qed.

(* Every step that stands in no case holds. *)
Lemma follow_steps P ls : forall b b' x, wide P b -> follow P b ls = Some b' -> consistent P x -> holds_in b x ->
  holds_in b' x /\ forall c v ws, In (Step c v ws) ls -> val v <= rdot c x.
Proof.
  induction ls as [|l ls IH]; intros b b' x W E C H; simpl in E.
  - injection E as <-. split; auto. intros c v ws [].
  - destruct (after P b l) as [d|] eqn:A; [|discriminate]. destruct (after_sound P l b d W A) as [V K].
    destruct (IH _ _ x V E C (K x C H)) as [M N]. split; auto.
    intros c v ws [J|J]; [|eapply N; eauto]. subst l. simpl in A.
    destruct (largest_value P (sides b) c ws) as [m|] eqn:L; [|discriminate].
    destruct (le v m) eqn:Q; [|discriminate]. apply le_spec in Q. destruct H as [_ I].
    assert (T := largest_value_spec _ _ _ _ _ _ I (consistent_rests _ _ ws C) L). lra.
Qed.

Lemma consistent_prior P x : consistent P x -> holds_in (of_prior P) x.
Proof. intros [I _]. split; auto. Qed.

(* Witnesses *)

Lemma within_num_spec s z : within_num s z = true -> within s (val z).
Proof.
  unfold within_num, within. intros H. apply andb_true_iff in H. destruct H as [L U].
  destruct (fst s), (snd s); rewrite ?le_spec in *; auto.
Qed.

Lemma inside_num_spec box : forall x, inside_num box x = true -> inside box (map val x).
Proof.
  induction box as [|s box IH]; intros [|z x] H; simpl in *; try discriminate; auto.
  apply andb_true_iff in H. destruct H. split; auto using within_num_spec.
Qed.

Lemma all_below_spec n f : all_below n f = true -> forall k, (k < n)%nat -> f k = true.
Proof.
  induction n as [|n IH]; intros H k K; [lia|]. simpl in H. destruct (f n) eqn:E; [|discriminate].
  destruct (Nat.eq_dec k n); [subst; assumption|]. apply IH; auto. lia.
Qed.

Lemma satisfies_num_spec x r : satisfies_num x (map abs x) r = true -> satisfies r (map val x).
Proof.
  unfold satisfies_num, satisfies. intros H. apply le_spec in H. rewrite val_abs, val_sub, val_add, !val_ndot in H.
  replace (map Rabs (map val x)) with (map val (map abs x)); [assumption|].
  rewrite !map_map. apply map_ext. intros z. apply val_abs.
Qed.

(* What the checks are worth ---------------------------------------------------------------------------------------- *)

Theorem witness_sound P x : check_witness P x = true -> consistent P (map val x).
Proof.
  unfold check_witness. intros H. apply andb_true_iff in H. destruct H as [I A]. split; [apply inside_num_spec, I|].
  intros k r [K E]. assert (F := all_below_spec _ _ A k K). cbv beta in F. destruct (get P k) as [s|] eqn:G; [|discriminate].
  apply get_spec in G. destruct G as [[_ G] _]. rewrite E in G. injection G as <-. apply satisfies_num_spec, F.
Qed.

Theorem bound_sound P ls b : check_bound P ls = Some b -> forall x, consistent P x ->
  holds_in b x /\ forall c v ws, In (Step c v ws) ls -> val v <= rdot c x.
Proof.
  unfold check_bound. destruct (existsb is_step ls); [|discriminate]. intros E x C.
  eapply follow_steps; eauto using consistent_prior. reflexivity.
Qed.

Theorem empty_sound P ls : check_empty P ls = true -> forall x, ~ consistent P x.
Proof.
  unfold check_empty. destruct ls as [|l ls]; [discriminate|].
  destruct (follow P (of_prior P) (l :: ls)) as [b|] eqn:E; [|discriminate]. intros H x C.
  eapply is_empty_spec; eauto. eapply follow_steps; eauto using consistent_prior. reflexivity.
Qed.

(* 1. A witness that is accepted is consistent.
   2. If a bound is accepted, every consistent x is in the box that is returned, and satisfies each step of the chain.
   3. If emptiness is accepted, nothing is consistent. *)
Theorem linear_sound :
  (forall P x, check_witness P x = true -> consistent P (map val x)) /\
  (forall P ls b, check_bound P ls = Some b -> forall x, consistent P x ->
    inside (sides b) x /\ forall c v ws, In (Step c v ws) ls -> rdot c x >= val v) /\
  (forall P ls, check_empty P ls = true -> forall x, ~ consistent P x).
Proof.
  split; [exact witness_sound|]. split; [|exact empty_sound].
  intros P ls b E x C. destruct (bound_sound P ls b E x C) as [[_ I] S]. split; auto.
  intros c v ws J. apply Rle_ge. eapply S; eauto.
Qed.

(* An example: |2 − x| ≤ 1/2 has the point 5/2, but not 13/5; it proves x ≥ 3/2, but not x ≥ 8/5, and excludes the prior
   x ≤ 1. *)
Example accepted_and_refused :
  let P high := Problem [(None, high)] 1
    (fun k => match k with O => Some (Equation [one] (of_Z 2) Num.half []) | _ => None end) in
  let bound n := check_bound (P None) [Step [one] n [(O, one)]] in
  check_witness (P None) [Num 5 (-1) 1] = true /\ check_witness (P None) [Num 13 0 5] = false /\
  (exists b, bound (Num 3 (-1) 1) = Some b) /\ bound (Num 8 0 5) = None /\
  check_empty (P (Some one)) [Step [one] (Num 3 (-1) 1) [(O, one)]] = true.
Proof. repeat split; try eexists; vm_compute; reflexivity. Qed.

Print Assumptions linear_sound.
