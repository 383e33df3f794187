(* Vectors of three real numbers. *)
Require Import Reals Lra.
Local Open Scope R_scope.

Record vec := Vec { x1 : R; x2 : R; x3 : R }.

Declare Scope vec_scope.
Delimit Scope vec_scope with vec.
Bind Scope vec_scope with vec.

Definition vadd (u v : vec) : vec := Vec (x1 u + x1 v) (x2 u + x2 v) (x3 u + x3 v).
Definition vsub (u v : vec) : vec := Vec (x1 u - x1 v) (x2 u - x2 v) (x3 u - x3 v).
Definition scale (k : R) (v : vec) : vec := Vec (k * x1 v) (k * x2 v) (k * x3 v).
Definition dot (u v : vec) : R := x1 u * x1 v + x2 u * x2 v + x3 u * x3 v.
Definition cross (u v : vec) : vec :=
  Vec (x2 u * x3 v - x3 u * x2 v) (x3 u * x1 v - x1 u * x3 v) (x1 u * x2 v - x2 u * x1 v).
Definition norm (v : vec) : R := sqrt (dot v v).

Infix "+" := vadd : vec_scope.
Infix "-" := vsub : vec_scope.
Infix "*" := scale : vec_scope.
Infix "×" := cross (at level 40, left associativity) : vec_scope.

(* |v_i| ≤ t_i, axis by axis *)
Definition within (v t : vec) : Prop := Rabs (x1 v) <= x1 t /\ Rabs (x2 v) <= x2 t /\ Rabs (x3 v) <= x3 t.

Lemma vec_eq u v : x1 u = x1 v -> x2 u = x2 v -> x3 u = x3 v -> u = v.
Proof. destruct u, v; simpl. intros; subst; reflexivity. Qed.

Lemma dot_pos v : 0 <= dot v v.
Proof.
  unfold dot. assert (A := Rle_0_sqr (x1 v)); assert (B := Rle_0_sqr (x2 v)); assert (C := Rle_0_sqr (x3 v)).
  unfold Rsqr in *. lra.
Qed.

Lemma norm_pos v : 0 <= norm v.
Proof. apply sqrt_pos. Qed.

Lemma norm_sq v : norm v * norm v = dot v v.
Proof. apply sqrt_sqrt, dot_pos. Qed.

Lemma dot_zero v : dot v v = 0 -> v = Vec 0 0 0.
Proof.
  unfold dot. intros H. assert (A := Rle_0_sqr (x1 v)); assert (B := Rle_0_sqr (x2 v)); assert (C := Rle_0_sqr (x3 v)).
  unfold Rsqr in *. apply vec_eq; simpl; apply Rsqr_0_uniq; unfold Rsqr; lra.
Qed.

(* Squares are compared instead of numbers that are not negative. *)
Lemma le_of_squares a b : 0 <= b -> a * a <= b * b -> a <= b.
Proof.
  intros B H. destruct (Rle_lt_dec a b) as [K|K]; [assumption|].
  assert (b * b < a * a) by (apply Rmult_le_0_lt_compat; lra). lra.
Qed.

Lemma squares_le a b : 0 <= a -> a <= b -> a * a <= b * b.
Proof. intros A H. apply Rmult_le_compat; lra. Qed.

Lemma norm_le v k : 0 <= k -> dot v v <= k * k -> norm v <= k.
Proof. intros K H. apply le_of_squares; [assumption|]. rewrite norm_sq. assumption. Qed.

Lemma norm_eq v k : 0 <= k -> dot v v = k * k -> norm v = k.
Proof. intros K H. unfold norm. rewrite H. apply sqrt_square, K. Qed.

Lemma norm_scale k v : norm (k * v) = Rabs k * norm v.
Proof.
  apply norm_eq; [apply Rmult_le_pos; [apply Rabs_pos|apply norm_pos]|].
  replace (Rabs k * norm v * (Rabs k * norm v)) with (Rabs k * Rabs k * (norm v * norm v)) by ring.
  rewrite norm_sq, <- Rabs_mult, (Rabs_pos_eq (k * k)) by apply Rle_0_sqr. unfold dot, scale; simpl. ring.
Qed.

(* Lagrange's identity *)
Lemma cross_sq u v : dot (u × v) (u × v) = dot u u * dot v v - dot u v * dot u v.
Proof. unfold dot, cross; simpl. ring. Qed.

Theorem cauchy_schwarz u v : Rabs (dot u v) <= norm u * norm v.
Proof.
  apply le_of_squares; [apply Rmult_le_pos; apply norm_pos|].
  rewrite <- Rabs_mult, Rabs_pos_eq by apply Rle_0_sqr.
  replace (norm u * norm v * (norm u * norm v)) with (norm u * norm u * (norm v * norm v)) by ring. rewrite !norm_sq.
  assert (H := dot_pos (u × v)). rewrite cross_sq in H. lra.
Qed.

Theorem norm_triangle u v : norm (u + v) <= norm u + norm v.
Proof.
  assert (U := norm_pos u); assert (V := norm_pos v). apply norm_le; [lra|].
  replace (dot (u + v) (u + v)) with (dot u u + dot v v + 2 * dot u v) by (unfold dot, vadd; simpl; ring).
  assert (C := cauchy_schwarz u v). assert (D := Rle_abs (dot u v)). rewrite <- (norm_sq u), <- (norm_sq v). lra.
Qed.

Lemma norm_cross u v : norm (u × v) <= norm u * norm v.
Proof.
  apply norm_le; [apply Rmult_le_pos; apply norm_pos|].
  replace (norm u * norm v * (norm u * norm v)) with (norm u * norm u * (norm v * norm v)) by ring.
  rewrite !norm_sq, cross_sq. assert (H := Rle_0_sqr (dot u v)). unfold Rsqr in H. lra.
Qed.

Lemma abs_between a t : Rabs a <= t -> - t <= a <= t.
Proof. unfold Rabs. destruct (Rcase_abs a); lra. Qed.

Lemma abs_square a t : Rabs a <= t -> a * a <= t * t.
Proof.
  intros H. rewrite <- (Rabs_pos_eq (a * a)) by apply Rle_0_sqr. rewrite Rabs_mult.
  apply squares_le; [apply Rabs_pos|assumption].
Qed.

Lemma within_dot v t : within v t -> dot v v <= dot t t.
Proof. intros (A & B & C). unfold dot. apply abs_square in A, B, C. lra. Qed.

Lemma within_norm v t k : within v t -> 0 <= k -> dot t t <= k * k -> norm v <= k.
Proof. intros W K H. apply norm_le; [assumption|]. apply within_dot in W. lra. Qed.
