(* Rotations: by a quaternion of any length but 0, and by a rotation vector (Rodrigues' formula). *)
Require Import Reals Lra.
Require Import Gough.Vectors.
Local Open Scope R_scope.

(* Quaternions ------------------------------------------------------------------------------------------------------ *)

(* w + x i + y j + z k *)
Record quaternion := Quaternion { qw : R; qx : R; qy : R; qz : R }.

(* |q|² *)
Definition size (q : quaternion) : R := qw q * qw q + qx q * qx q + qy q * qy q + qz q * qz q.

(* |q|² R v, R being the rotation of q: a polynomial *)
Definition turned (q : quaternion) (v : vec) : vec :=
  let '(Quaternion w x y z) := q in
  Vec ((w * w + x * x - y * y - z * z) * x1 v + 2 * (x * y - w * z) * x2 v + 2 * (x * z + w * y) * x3 v)
      (2 * (x * y + w * z) * x1 v + (w * w - x * x + y * y - z * z) * x2 v + 2 * (y * z - w * x) * x3 v)
      (2 * (x * z - w * y) * x1 v + 2 * (y * z + w * x) * x2 v + (w * w - x * x - y * y + z * z) * x3 v).

(* R v *)
Definition rotate (q : quaternion) (v : vec) : vec := / size q * turned q v.

(* The product of quaternions, and the conjugate *)
Definition qmul (p q : quaternion) : quaternion :=
  Quaternion (qw p * qw q - qx p * qx q - qy p * qy q - qz p * qz q)
             (qw p * qx q + qx p * qw q + qy p * qz q - qz p * qy q)
             (qw p * qy q - qx p * qz q + qy p * qw q + qz p * qx q)
             (qw p * qz q + qx p * qy q - qy p * qx q + qz p * qw q).
Definition conjugate (q : quaternion) : quaternion := Quaternion (qw q) (- qx q) (- qy q) (- qz q).

(* [turned] is what it should be: q v q*. *)
Theorem turned_is_product q v :
  qmul (qmul q (Quaternion 0 (x1 v) (x2 v) (x3 v))) (conjugate q) =
  Quaternion 0 (x1 (turned q v)) (x2 (turned q v)) (x3 (turned q v)).
Proof. destruct q. unfold qmul, conjugate; simpl. f_equal; ring. Qed.

Lemma dot_turned q u v : dot (turned q u) (turned q v) = size q * size q * dot u v.
Proof. destruct q. unfold dot, size; simpl. ring. Qed.

Lemma size_qmul p q : size (qmul p q) = size p * size q.
Proof. unfold size, qmul; simpl. ring. Qed.

(* The product of quaternions turns by one after the other. *)
Lemma turned_qmul p q v : turned (qmul p q) v = turned p (turned q v).
Proof. destruct p, q. apply vec_eq; simpl; ring. Qed.

Lemma turned_scale q k v : turned q (k * v) = scale k (turned q v).
Proof. destruct q. apply vec_eq; simpl; ring. Qed.

Lemma rotate_qmul p q v : size p <> 0 -> size q <> 0 -> rotate (qmul p q) v = rotate p (rotate q v).
Proof.
  intros P Q. unfold rotate. rewrite turned_scale, turned_qmul, size_qmul. apply vec_eq; simpl; field; auto.
Qed.

Lemma rotate_turned q v : size q <> 0 -> scale (size q) (rotate q v) = turned q v.
Proof. intros Q. unfold rotate. apply vec_eq; simpl; field; auto. Qed.

(* The rotation of a quaternion keeps inner products, hence lengths and angles. *)
Theorem dot_rotate q u v : size q <> 0 -> dot (rotate q u) (rotate q v) = dot u v.
Proof.
  intros Q. replace (dot (rotate q u) (rotate q v)) with (/ size q * / size q * dot (turned q u) (turned q v))
    by (unfold rotate, dot, scale; simpl; ring).
  rewrite dot_turned. field. assumption.
Qed.

Theorem norm_rotate q v : size q <> 0 -> norm (rotate q v) = norm v.
Proof. intros Q. unfold norm. rewrite dot_rotate; auto. Qed.

(* It keeps the cross product too: it is no reflection. *)
Theorem cross_rotate q u v : size q <> 0 -> cross (rotate q u) (rotate q v) = rotate q (cross u v).
Proof.
  intros Q. unfold rotate. destruct q. unfold size in *; simpl in *. apply vec_eq; simpl; field; auto.
Qed.

(* Rotation vectors ------------------------------------------------------------------------------------------------- *)

(* exp(ω) v: v turned by the angle θ = |ω| about ω. With u = ω / θ it is v + sin θ u × v + (1 − cos θ) u × (u × v). *)
Definition exp_rotate (w v : vec) : vec :=
  let t := norm w in
  if Req_EM_T t 0 then v
  else (v + sin t / t * (w × v) + (1 - cos t) / (t * t) * (w × (w × v)))%vec.

(* Quaternion of exp(ω): (cos θ/2, sin θ/2 ω / θ) *)
Definition exp_quaternion (w : vec) : quaternion :=
  let t := norm w in
  if Req_EM_T t 0 then Quaternion 1 0 0 0
  else let s := sin (t / 2) / t in Quaternion (cos (t / 2)) (s * x1 w) (s * x2 w) (s * x3 w).

Lemma sin_double t : sin t = 2 * (sin (t / 2) * cos (t / 2)).
Proof. replace t with (2 * (t / 2)) at 1 by field. rewrite sin_2a. ring. Qed.

Lemma cos_double t : 1 - cos t = 2 * (sin (t / 2) * sin (t / 2)).
Proof. replace t with (2 * (t / 2)) at 1 by field. rewrite cos_2a_sin. ring. Qed.

Lemma size_exp w : size (exp_quaternion w) = 1.
Proof.
  unfold exp_quaternion. destruct (Req_EM_T (norm w) 0) as [E|E]; unfold size; simpl; [ring|].
  assert (D := norm_sq w). assert (P := sin2_cos2 (norm w / 2)). unfold Rsqr, dot in *.
  set (t := norm w) in *. set (s := sin (t / 2)) in *. set (c := cos (t / 2)) in *.
  replace (_ + _ + _ + _) with (c * c + s * s / (t * t) * (x1 w * x1 w + x2 w * x2 w + x3 w * x3 w)) by (field; auto).
  rewrite <- D. replace (c * c + s * s / (t * t) * (t * t)) with (s * s + c * c) by (field; auto). exact P.
Qed.

(* [exp_rotate] is a rotation: that of a quaternion. *)
Theorem exp_is_rotation w v : exp_rotate w v = rotate (exp_quaternion w) v.
Proof.
  unfold rotate. rewrite size_exp. unfold exp_rotate, exp_quaternion.
  destruct (Req_EM_T (norm w) 0) as [E|E]; [apply vec_eq; simpl; field|].
  assert (D := norm_sq w). assert (P := sin2_cos2 (norm w / 2)).
  rewrite (sin_double (norm w)), (cos_double (norm w)). unfold Rsqr, dot in *.
  set (t := norm w) in *. set (s := sin (t / 2)) in *. set (c := cos (t / 2)) in *.
  destruct v as [a b d], w as [x y z]; simpl in *.
  assert (K : c * c = 1 - s / t * (s / t) * (x * x + y * y + z * z)).
  { rewrite <- D. replace (s / t * (s / t) * (t * t)) with (s * s) by (field; auto). lra. }
  replace (2 * (s * c) / t) with (2 * (s / t) * c) by (field; auto).
  replace (2 * (s * s) / (t * t)) with (2 * (s / t) * (s / t)) by (field; auto).
  set (k := s / t) in *.
  apply vec_eq; simpl; rewrite K; field.
Qed.

Theorem norm_exp w v : norm (exp_rotate w v) = norm v.
Proof. rewrite exp_is_rotation. apply norm_rotate. rewrite size_exp. lra. Qed.

(* What exp(ω) adds to 1 + ω× --------------------------------------------------------------------------------------- *)

(* A function with f 0 = 0 and a derivative that is not negative to the right of 0 is not negative there. *)
Lemma nonneg_of_derivative (f f' : R -> R) : f 0 = 0 -> (forall x, derivable_pt_lim f x (f' x)) ->
  (forall x, 0 < x -> 0 <= f' x) -> forall x, 0 <= x -> 0 <= f x.
Proof.
  intros Z D P x [H|H]; [|subst; lra].
  destruct (MVT_cor2 f f' 0 x H (fun c _ => D c)) as (c & E & C).
  assert (0 <= f' c * (x - 0)) by (apply Rmult_le_pos; [apply P|]; lra). lra.
Qed.

Lemma derivative_is f x l m : derivable_pt_lim f x l -> l = m -> derivable_pt_lim f x m.
Proof. intros; subst; assumption. Qed.

Ltac derivative := eapply derivative_is; [repeat
  match goal with
  | |- derivable_pt_lim (?f + ?g)%F _ _ => eapply derivable_pt_lim_plus
  | |- derivable_pt_lim (?f - ?g)%F _ _ => eapply derivable_pt_lim_minus
  | |- derivable_pt_lim (?f * ?g)%F _ _ => eapply derivable_pt_lim_mult
  | |- derivable_pt_lim id _ _ => apply derivable_pt_lim_id
  | |- derivable_pt_lim (fct_cte _) _ _ => apply derivable_pt_lim_const
  | |- derivable_pt_lim sin _ _ => apply derivable_pt_lim_sin
  | |- derivable_pt_lim cos _ _ => apply derivable_pt_lim_cos
  end | unfold plus_fct, minus_fct, mult_fct, fct_cte, id; field].

Lemma one_minus_cos t : 0 <= t -> 1 - cos t <= t * t / 2.
Proof.
  intros T.
  pose (f := (fct_cte (/ 2) * (id * id) - fct_cte 1 + cos)%F).
  assert (0 <= f t); [|unfold f, plus_fct, minus_fct, mult_fct, fct_cte, id in *; lra].
  apply nonneg_of_derivative with (fun x => x - sin x); [| | |assumption].
  - unfold f, plus_fct, minus_fct, mult_fct, fct_cte, id. rewrite cos_0. lra.
  - intros x. unfold f. derivative.
  - intros x X. assert (K := sin_lt_x x X). lra.
Qed.

Lemma remainder_angle t : 0 <= t ->
  (sin t - t) * (sin t - t) + (1 - cos t) * (1 - cos t) <= t * t * (t * t) / 4.
Proof.
  intros T.
  pose (f := (fct_cte (/ 4) * (id * id * (id * id)) - id * id + fct_cte 2 * (id * sin) - fct_cte 2
              + fct_cte 2 * cos)%F).
  assert (P := sin2_cos2 t). unfold Rsqr in P.
  assert (0 <= f t); [|unfold f, plus_fct, minus_fct, mult_fct, fct_cte, id in *; lra].
  apply nonneg_of_derivative with (fun x => x * (x * x - 2 * (1 - cos x))); [| | |assumption].
  - unfold f, plus_fct, minus_fct, mult_fct, fct_cte, id. rewrite cos_0, sin_0. lra.
  - intros x. unfold f. derivative.
  - intros x X. assert (K := one_minus_cos x (Rlt_le _ _ X)). apply Rmult_le_pos; lra.
Qed.

(* exp(ω) v is v + ω × v up to |ω|² |v| / 2. *)
Theorem exp_remainder w v : norm (exp_rotate w v - v - w × v) <= norm w * norm w * norm v / 2.
Proof.
  assert (W := norm_pos w); assert (V := norm_pos v). assert (Q := Rle_0_sqr (norm w)). unfold Rsqr in Q.
  apply norm_le; [assert (K := Rmult_le_pos _ _ Q V); lra|].
  unfold exp_rotate. destruct (Req_EM_T (norm w) 0) as [E|E].
  - rewrite E. assert (Z : w = Vec 0 0 0) by (apply dot_zero; rewrite <- norm_sq, E; ring). rewrite Z.
    unfold dot; simpl. right. field.
  - assert (R := remainder_angle (norm w) W). assert (D := norm_sq w).
    set (t := norm w) in *. set (s := sin t) in *. set (c := cos t) in *.
    replace (dot _ _) with (((s - t) * (s - t) / (t * t) + (1 - c) * (1 - c) * dot w w / (t * t * (t * t)))
                            * dot (w × v) (w × v)) by (unfold dot; simpl; field; auto).
    rewrite cross_sq, <- D.
    replace (((s - t) * (s - t) / (t * t) + (1 - c) * (1 - c) * (t * t) / (t * t * (t * t))) *
      (t * t * dot v v - dot w v * dot w v)) with
      (((s - t) * (s - t) + (1 - c) * (1 - c)) * (dot v v - (dot w v / t) * (dot w v / t))) by (field; auto).
    replace (t * t * norm v / 2 * (t * t * norm v / 2)) with (t * t * (t * t) / 4 * (norm v * norm v)) by field.
    rewrite norm_sq.
    set (m := (s - t) * (s - t) + (1 - c) * (1 - c)) in *.
    assert (M : 0 <= m)
      by (unfold m; assert (A := Rle_0_sqr (s - t)); assert (B := Rle_0_sqr (1 - c)); unfold Rsqr in *; lra).
    set (g := dot w v / t). assert (G := Rle_0_sqr g). unfold Rsqr in G.
    apply Rle_trans with (m * dot v v).
    + apply Rmult_le_compat_l; lra.
    + apply Rmult_le_compat_r; [apply dot_pos|assumption].
Qed.

(* Rotations that certificates exhibit ------------------------------------------------------------------------------ *)

(* The quaternion (1, v), which turns by 2 atan |v| about v, and its rotation vector *)
Definition small_turn (v : vec) : quaternion := Quaternion 1 (x1 v) (x2 v) (x3 v).
Definition small_vector (v : vec) : vec :=
  if Req_EM_T (norm v) 0 then Vec 0 0 0 else (2 * atan (norm v) / norm v * v)%vec.

Lemma atan_pos_le t : 0 < t -> 0 < atan t <= t.
Proof.
  intros T. split; [rewrite <- atan_0; apply atan_increasing, T|].
  assert (L : 0 <= t - atan t); [|lra].
  apply (nonneg_of_derivative (id - atan)%F (fun x => 1 - / (1 + x ^ 2))); [| | |lra].
  - unfold minus_fct, id. rewrite atan_0. lra.
  - intros x. apply derivable_pt_lim_minus; [apply derivable_pt_lim_id|].
    apply derivable_pt_lim_atan.
  - intros x X. assert (K : 1 <= 1 + x ^ 2) by (assert (Y := pow2_ge_0 x); lra).
    apply Rinv_le_contravar in K; [|lra]. rewrite Rinv_1 in K. lra.
Qed.

Lemma size_small v : size (small_turn v) = 1 + dot v v.
Proof. unfold size, dot; simpl. ring. Qed.

Theorem small_turn_is_exp v w : exp_rotate (small_vector v) w = rotate (small_turn v) w.
Proof.
  unfold rotate. rewrite size_small. unfold small_vector. assert (D := norm_sq v). assert (V := norm_pos v).
  destruct (Req_EM_T (norm v) 0) as [E|E].
  - assert (Z : v = Vec 0 0 0) by (apply dot_zero; rewrite <- D, E; ring). subst v.
    unfold exp_rotate. rewrite E. destruct (Req_EM_T 0 0) as [_|N]; [|exfalso; apply N; reflexivity].
    apply vec_eq; unfold dot; simpl; field.
  - assert (T : 0 < norm v) by lra. destruct (atan_pos_le _ T) as [A B].
    unfold exp_rotate. rewrite norm_scale, Rabs_pos_eq by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, T]).
    set (t := norm v) in *. replace (2 * atan t / t * t) with (2 * atan t) by (field; lra).
    destruct (Req_EM_T (2 * atan t) 0) as [F|F]; [lra|].
    assert (H : 1 + t * t <> 0) by (assert (K := Rle_0_sqr t); unfold Rsqr in K; lra).
    assert (Q : sqrt (1 + t²) * sqrt (1 + t²) = 1 + t * t)
      by (apply sqrt_sqrt; assert (K := Rle_0_sqr t); unfold Rsqr in *; lra).
    assert (S : sin (2 * atan t) = 2 * t / (1 + t * t)).
    { rewrite sin_2a, sin_atan, cos_atan, <- Q. field. intros N. rewrite N in Q. lra. }
    assert (C : 1 - cos (2 * atan t) = 2 * (t * t) / (1 + t * t)).
    { rewrite cos_2a_sin, sin_atan, <- Q. field. intros N. rewrite N in Q. lra. }
    rewrite S, C. set (a := atan t) in *. rewrite <- D.
    unfold dot in D. destruct v as [x y z], w as [f g h]; simpl in *.
    assert (T1 : t * t = x * x + y * y + z * z) by exact D.
    assert (Ha : a <> 0) by lra.
    assert (K1 : 2 * t / (1 + t * t) / (2 * a) * (2 * a / t) = 2 / (1 + t * t)) by (field; auto).
    assert (K2 : 2 * (t * t) / (1 + t * t) / (2 * a * (2 * a)) * (2 * a / t) * (2 * a / t) = 2 / (1 + t * t))
      by (field; auto).
    set (c1 := 2 * t / (1 + t * t) / (2 * a)) in *. set (c2 := 2 * (t * t) / (1 + t * t) / (2 * a * (2 * a))) in *.
    set (k := 2 * a / t) in *. set (r := 2 / (1 + t * t)) in *.
    assert (R1 : / (1 + t * t) = 1 - r / 2 * (x * x + y * y + z * z)).
    { rewrite <- T1. unfold r. field. auto. }
    assert (R2 : / (1 + t * t) = r / 2) by (unfold r; field; auto).
    apply vec_eq; simpl.
    + replace (_ + _) with (f + c1 * k * (y * h - z * g)
        + c2 * k * k * (y * (x * g - y * f) - z * (z * f - x * h))) by ring.
      rewrite K1, K2. replace f with (f * 1) at 1 by ring.
      replace (f * 1) with (f * (/ (1 + t * t) + r / 2 * (x * x + y * y + z * z))) by (rewrite R1; ring).
      rewrite R2. field.
    + replace (_ + _) with (g + c1 * k * (z * f - x * h)
        + c2 * k * k * (z * (y * h - z * g) - x * (x * g - y * f))) by ring.
      rewrite K1, K2. replace g with (g * 1) at 1 by ring.
      replace (g * 1) with (g * (/ (1 + t * t) + r / 2 * (x * x + y * y + z * z))) by (rewrite R1; ring).
      rewrite R2. field.
    + replace (_ + _) with (h + c1 * k * (x * g - y * f)
        + c2 * k * k * (x * (z * f - x * h) - y * (y * h - z * g))) by ring.
      rewrite K1, K2. replace h with (h * 1) at 1 by ring.
      replace (h * 1) with (h * (/ (1 + t * t) + r / 2 * (x * x + y * y + z * z))) by (rewrite R1; ring).
      rewrite R2. field.
Qed.

(* No component of the rotation vector exceeds 2 |v_i|. *)
Lemma small_vector_within v t : within (2 * v) t -> within (small_vector v) t.
Proof.
  intros (A & B & C). unfold small_vector. assert (V := norm_pos v).
  destruct (Req_EM_T (norm v) 0) as [E|E].
  - unfold within; simpl. rewrite Rabs_R0.
    repeat split; (eapply Rle_trans; [apply Rabs_pos|eassumption]).
  - assert (T : 0 < norm v) by lra. destruct (atan_pos_le _ T) as [G H].
    set (k := 2 * atan (norm v) / norm v).
    assert (K : 0 <= k <= 2).
    { unfold k. split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, T]|].
      apply Rmult_le_reg_r with (norm v); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    unfold within in *; simpl in *. rewrite Rabs_mult, (Rabs_pos_eq 2) in A, B, C by lra.
    rewrite !Rabs_mult, (Rabs_pos_eq k) by lra.
    assert (P1 := Rabs_pos (x1 v)); assert (P2 := Rabs_pos (x2 v)); assert (P3 := Rabs_pos (x3 v)).
    repeat split; (eapply Rle_trans; [apply Rmult_le_compat_r with (r2 := 2)|eassumption]); lra.
Qed.
