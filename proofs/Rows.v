(* Rows: linear inequalities Σ coefficient · y ≤ side between real columns y, with exact coefficients; and chords. *)
Require Import ZArith Reals Lra List Bool.
Require Import Gough.Num.
Import ListNotations.
Local Open Scope R_scope.

Record row := Row { coef : list num; side : num }.

(* Columns beyond the shorter of both lists count as 0. *)
Fixpoint rdot (a : list num) (y : list R) : R :=
  match a, y with c :: a', z :: y' => val c * z + rdot a' y' | _, _ => 0 end.

Definition holds (r : row) (y : list R) : Prop := rdot (coef r) y <= val (side r).

(* The computed Σ a · x of two lists of numbers. *)
Fixpoint ndot (a x : list num) : num :=
  match a, x with c :: a', z :: x' => add (mul c z) (ndot a' x') | _, _ => zero end.

Lemma val_ndot a : forall x, val (ndot a x) = rdot a (map val x).
Proof.
  induction a as [|c a IH]; intros [|z x]; simpl; try apply val_zero.
  rewrite val_add, val_mul, IH. reflexivity.
Qed.

(* |x| ≤ slope x + height over [low, high]. Any slope will do, because the height is computed from it: |x| − slope x is
   convex, so its largest value over the interval is at one of the ends. *)
Definition chord (low high : num) : num * num :=
  if negb (is_neg low) then (one, zero)
  else if negb (is_pos high) then (neg one, zero)
  else
    let slope := ratio (add high low) (sub high low) in
    (slope, max (sub (abs low) (mul slope low)) (sub (abs high) (mul slope high))).

Lemma convex_abs s low high x : low <= x <= high ->
  Rabs x - s * x <= Rmax (Rabs low - s * low) (Rabs high - s * high).
Proof.
  intros [L H]. destruct (Rle_lt_dec low high) as [K|K]; [|lra].
  destruct (Req_dec low high) as [E|E].
  { replace x with low by lra. apply Rmax_l. }
  set (t := (x - low) / (high - low)).
  assert (T : 0 <= t <= 1).
  { unfold t. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with (high - low); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (X : x = (1 - t) * low + t * high) by (unfold t; field; lra).
  assert (A : Rabs x <= (1 - t) * Rabs low + t * Rabs high).
  { rewrite X. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq (1 - t)), (Rabs_pos_eq t); lra. }
  set (M := Rmax _ _).
  assert (Rabs low - s * low <= M) by apply Rmax_l. assert (Rabs high - s * high <= M) by apply Rmax_r.
  assert ((1 - t) * (Rabs low - s * low) <= (1 - t) * M) by (apply Rmult_le_compat_l; lra).
  assert (t * (Rabs high - s * high) <= t * M) by (apply Rmult_le_compat_l; lra).
  replace (s * x) with ((1 - t) * (s * low) + t * (s * high)) by (rewrite X; ring). lra.
Qed.

Theorem chord_holds low high x : val low <= x <= val high ->
  Rabs x <= val (fst (chord low high)) * x + val (snd (chord low high)).
Proof.
  intros H. unfold chord. destruct (is_neg low) eqn:N; simpl.
  2:{ apply is_neg_false in N. rewrite val_one, val_zero, Rabs_pos_eq; lra. }
  destruct (is_pos high) eqn:P; simpl.
  - assert (K := convex_abs (val (ratio (add high low) (sub high low))) _ _ _ H).
    rewrite val_max, !val_sub, !val_mul, !val_abs. lra.
  - assert (val high <= 0).
    { destruct (Rle_lt_dec (val high) 0) as [L|L]; [assumption|]. apply is_pos_spec in L; congruence. }
    rewrite val_neg, val_one, val_zero, Rabs_left1; lra.
Qed.
