(* Legs of a Gough platform: what measured poses and readings mean, the linear rows that follow from them in a box, and
   legs that are exhibited with the errors that make them fit. *)
Require Import ZArith Reals Lra List Bool.
Require Import Gough.Num Gough.Rows Gough.Boxes Gough.Vectors Gough.Rotation.
Import ListNotations.
Local Open Scope R_scope.

(* What was measured, and what it means ----------------------------------------------------------------------------- *)

Record nvec := NVec { n1 : num; n2 : num; n3 : num }.
Definition real (v : nvec) : vec := Vec (val (n1 v)) (val (n2 v)) (val (n3 v)).

(* One pose: quaternion (of any length but 0), position, the reading of a leg, and the tolerances *)
Record pose := Pose {
  q0 : num; q1 : num; q2 : num; q3 : num;
  position : nvec;
  position_tolerance : nvec;
  rotation_tolerance : nvec;
  reading : num;
  reading_tolerance : num }.

Definition attitude (k : pose) : quaternion := Quaternion (val (q0 k)) (val (q1 k)) (val (q2 k)) (val (q3 k)).

(* A leg: its joint a on the base, its joint b in coordinates of the platform, and its length l at reading 0 *)
Record leg := Leg { base : vec; platform : vec; offset : R }.

(* The leg fits the pose with the errors δ of its position and ω (rotation vector) of its attitude:
   |exp(ω) R b + p + δ − a| = l + reading + η for some error η of the reading, within its tolerance plus [more]. *)
Definition fits_with (k : pose) (more : num) (x : leg) (delta omega : vec) : Prop :=
  within delta (real (position_tolerance k)) /\
  within omega (real (rotation_tolerance k)) /\
  exists eta, Rabs eta <= Rmax (val (reading_tolerance k) + val more) 0 /\
    norm (exp_rotate omega (rotate (attitude k) (platform x)) + real (position k) + delta - base x)
    = offset x + val (reading k) + eta.

Definition leg_fits (k : pose) (more : num) (x : leg) : Prop := exists delta omega, fits_with k more x delta omega.

(* The squared distance, linearised --------------------------------------------------------------------------------- *)

(* The square of a distance s + η ≥ 0 with |η| ≤ T is at most s² + 2 T s + T². It is at least s² − 2 T s + T² if T ≤ s,
   and at least s² − 2 T s − 3 T² = (s + T)(s − 3 T) in any case: that is not positive for −T ≤ s ≤ 3 T, and s < −T is
   impossible. *)
Lemma distance_above s T eta : 0 <= s + eta -> Rabs eta <= T -> (s + eta) * (s + eta) - s * s <= 2 * T * s + T * T.
Proof.
  intros P H. apply abs_between in H. assert (K := squares_le (s + eta) (s + T) P). lra.
Qed.

Lemma distance_below_far s T eta : 0 <= s + eta -> Rabs eta <= T -> T <= s ->
  s * s - (s + eta) * (s + eta) <= 2 * T * s + - (T * T).
Proof.
  intros P H F. apply abs_between in H. assert (K := squares_le (s - T) (s + eta)). lra.
Qed.

Lemma distance_below s T eta : 0 <= s + eta -> Rabs eta <= T ->
  s * s - (s + eta) * (s + eta) <= 2 * T * s + 3 * (T * T).
Proof.
  intros P H. assert (A := Rabs_pos eta). apply abs_between in H. destruct (Rle_lt_dec T s) as [F|F].
  - assert (K := squares_le (s - T) (s + eta)). assert (L := Rle_0_sqr T). unfold Rsqr in L. lra.
  - assert (K := Rle_0_sqr (s + eta)). unfold Rsqr in K.
    assert (L : 0 <= (s + T) * (3 * T - s)) by (apply Rmult_le_pos; lra). lra.
Qed.

Section Linearised.
  Variables (q : quaternion) (p a b delta omega : vec) (s eta T : R).
  Variables (most far move spin spin2 : R).
  Let n := size q.
  Let P : vec := (p - a)%vec.
  Let W : vec := turned q b.
  Let e := / 2 * spin2 * most.
  Hypothesis N : 0 < n.
  Hypothesis Most : norm b <= most.
  Hypothesis Far : norm (W + n * P) <= far.
  Hypothesis Move : norm delta <= move.
  Hypothesis Spin : norm omega <= spin.
  Hypothesis Spin2 : norm omega * norm omega <= spin2.
  Hypothesis Eta : Rabs eta <= T.
  Hypothesis Fits : norm (exp_rotate omega (rotate q b) + p + delta - a) = s + eta.

  (* n (|d|² − s²) and what the errors add to n |d|² to first order, for d = R b + p − a *)
  Definition first_order : R :=
    n * (dot b b + dot P P - s * s) + 2 * dot W P + 2 * dot (W + n * P) delta + 2 * dot (W × P) omega.

  Let V : vec := rotate q b.
  Let rho : vec := (exp_rotate omega V - V - omega × V)%vec.
  Let E : vec := (delta + (omega × V + rho))%vec.

  Lemma first_order_is :
    first_order = n * ((s + eta) * (s + eta) - s * s) - 2 * dot (W + n * P) rho - n * dot E E.
  Proof.
    assert (Z : size q <> 0) by (unfold n in N; lra).
    rewrite <- Fits, norm_sq. unfold first_order, E. fold V.
    replace W with (scale n V) by (apply rotate_turned, Z).
    replace (dot b b) with (dot V V) by (apply dot_rotate, Z).
    unfold rho, P. destruct (exp_rotate omega V) as [y1 y2 y3]. unfold dot; simpl. ring.
  Qed.

  Lemma rho_small : norm rho <= e.
  Proof.
    assert (Z : size q <> 0) by (unfold n in N; lra).
    unfold rho, e. eapply Rle_trans; [apply exp_remainder|].
    unfold V. rewrite norm_rotate by exact Z.
    assert (A := norm_pos b); assert (B := Rle_0_sqr (norm omega)); unfold Rsqr in B.
    assert (norm omega * norm omega * norm b <= spin2 * most) by (apply Rmult_le_compat; lra). lra.
  Qed.

  Lemma pull_small : Rabs (dot (W + n * P) rho) <= far * e.
  Proof.
    eapply Rle_trans; [apply cauchy_schwarz|]. apply Rmult_le_compat; try apply norm_pos; [exact Far|exact rho_small].
  Qed.

  Lemma E_small : 0 <= dot E E <= (move + spin * most + e) * (move + spin * most + e).
  Proof.
    assert (Z : size q <> 0) by (unfold n in N; lra).
    split; [apply dot_pos|]. rewrite <- norm_sq. apply squares_le; [apply norm_pos|].
    assert (A := norm_triangle delta (omega × V + rho)). assert (B := norm_triangle (omega × V) rho).
    assert (C := norm_cross omega V). assert (D := rho_small).
    assert (F : norm V = norm b) by (apply norm_rotate, Z).
    assert (G : norm omega * norm V <= spin * most)
      by (rewrite F; apply Rmult_le_compat; try apply norm_pos; assumption).
    fold E in A. lra.
  Qed.

  Theorem first_order_above : first_order <= 2 * T * s * n + n * (T * T) + 2 * (far * e).
  Proof.
    assert (A := first_order_is). assert (B := pull_small). apply abs_between in B. assert (C := E_small).
    assert (0 <= n * dot E E) by (apply Rmult_le_pos; lra).
    assert (S : 0 <= s + eta) by (rewrite <- Fits; apply norm_pos).
    assert (n * ((s + eta) * (s + eta) - s * s) <= n * (2 * T * s + T * T))
      by (apply Rmult_le_compat_l; [lra|apply distance_above; assumption]).
    lra.
  Qed.

  Theorem first_order_below shorter : shorter = 3 * (T * T) \/ (shorter = - (T * T) /\ T <= s) ->
    - first_order <= 2 * T * s * n + 2 * (far * e)
      + n * ((move + spin * most + e) * (move + spin * most + e) + shorter).
  Proof.
    intros Sh. assert (A := first_order_is). assert (B := pull_small). apply abs_between in B. assert (C := E_small).
    assert (S : 0 <= s + eta) by (rewrite <- Fits; apply norm_pos).
    assert (n * dot E E <= n * ((move + spin * most + e) * (move + spin * most + e))) by (apply Rmult_le_compat_l; lra).
    assert (s * s - (s + eta) * (s + eta) <= 2 * T * s + shorter).
    { destruct Sh as [->|[-> F]]; [apply distance_below|apply distance_below_far]; assumption. }
    assert (n * (s * s - (s + eta) * (s + eta)) <= n * (2 * T * s + shorter)) by (apply Rmult_le_compat_l; lra).
    lra.
  Qed.
End Linearised.

(* Exact vectors ---------------------------------------------------------------------------------------------------- *)

Definition nadd (u v : nvec) : nvec := NVec (add (n1 u) (n1 v)) (add (n2 u) (n2 v)) (add (n3 u) (n3 v)).
Definition nsub (u v : nvec) : nvec := NVec (sub (n1 u) (n1 v)) (sub (n2 u) (n2 v)) (sub (n3 u) (n3 v)).
Definition nneg (u : nvec) : nvec := NVec (neg (n1 u)) (neg (n2 u)) (neg (n3 u)).
Definition nabs (u : nvec) : nvec := NVec (abs (n1 u)) (abs (n2 u)) (abs (n3 u)).
Definition ntimes (k : num) (u : nvec) : nvec := NVec (mul k (n1 u)) (mul k (n2 u)) (mul k (n3 u)).
Definition nzero : nvec := NVec zero zero zero.
Definition inner (u v : nvec) : num := sum [mul (n1 u) (n1 v); mul (n2 u) (n2 v); mul (n3 u) (n3 v)].
Definition two : num := of_Z 2.

Definition vabs (u : vec) : vec := Vec (Rabs (x1 u)) (Rabs (x2 u)) (Rabs (x3 u)).

Lemma val_two : val two = 2.
Proof. apply val_of_Z. Qed.

Lemma val_inner u v : val (inner u v) = dot (real u) (real v).
Proof. unfold inner. rewrite val_sum. simpl. rewrite !val_mul. unfold dot, real; simpl. ring. Qed.

Lemma real_abs u : real (nabs u) = vabs (real u).
Proof. unfold real, nabs, vabs; simpl. rewrite !val_abs. reflexivity. Qed.

Lemma real_neg u : real (nneg u) = scale (-1) (real u).
Proof. apply vec_eq; simpl; rewrite val_neg; ring. Qed.

Lemma real_times k u : real (ntimes k u) = scale (val k) (real u).
Proof. apply vec_eq; simpl; rewrite val_mul; ring. Qed.

Lemma real_add u v : real (nadd u v) = vadd (real u) (real v).
Proof. apply vec_eq; simpl; rewrite val_add; ring. Qed.

Lemma real_sub u v : real (nsub u v) = vsub (real u) (real v).
Proof. apply vec_eq; simpl; rewrite val_sub; ring. Qed.

Lemma real_zero : real nzero = Vec 0 0 0.
Proof. apply vec_eq; simpl; apply val_zero. Qed.

(* |q|² R by its rows, and |q|² *)
Record nmat := NMat { r1 : nvec; r2 : nvec; r3 : nvec }.

Definition rotation (w x y z : num) : nmat * num :=
  let '(ww, xx, yy, zz) := (mul w w, mul x x, mul y y, mul z z) in
  let '(wx, wy, wz) := (mul w x, mul w y, mul w z) in
  let '(xy, xz, yz) := (mul x y, mul x z, mul y z) in
  (NMat (NVec (sub (sub (add ww xx) yy) zz) (mul two (sub xy wz)) (mul two (add xz wy)))
        (NVec (mul two (add xy wz)) (sub (add (sub ww xx) yy) zz) (mul two (sub yz wx)))
        (NVec (mul two (sub xz wy)) (mul two (add yz wx)) (add (sub (sub ww xx) yy) zz)),
   add (add (add ww xx) yy) zz).

Definition napply (M : nmat) (u : nvec) : nvec := NVec (inner (r1 M) u) (inner (r2 M) u) (inner (r3 M) u).
Definition transpose (M : nmat) : nmat :=
  NMat (NVec (n1 (r1 M)) (n1 (r2 M)) (n1 (r3 M))) (NVec (n2 (r1 M)) (n2 (r2 M)) (n2 (r3 M)))
       (NVec (n3 (r1 M)) (n3 (r2 M)) (n3 (r3 M))).

Definition rotation_of (k : pose) : nmat * num := rotation (q0 k) (q1 k) (q2 k) (q3 k).

Lemma rotation_spec w x y z M n : rotation w x y z = (M, n) ->
  let q := Quaternion (val w) (val x) (val y) (val z) in
  val n = size q /\ forall u, turned q u = Vec (dot (real (r1 M)) u) (dot (real (r2 M)) u) (dot (real (r3 M)) u).
Proof.
  unfold rotation. intros H. injection H as <- <-. split.
  - rewrite !val_add, !val_mul. reflexivity.
  - intros u. apply vec_eq; unfold dot; simpl; rewrite ?val_mul, ?val_add, ?val_sub, ?val_mul, ?val_two;
      rewrite ?val_add, ?val_sub, ?val_mul; ring.
Qed.

(* Rows in a box ---------------------------------------------------------------------------------------------------- *)

(* The seven unknowns are a, b and l. Columns 7 to 22 are a_i b_j and the seven squares. *)
Definition leg_products : list (nat * nat) :=
  [(0, 3); (0, 4); (0, 5); (1, 3); (1, 4); (1, 5); (2, 3); (2, 4); (2, 5);
   (0, 0); (1, 1); (2, 2); (3, 3); (4, 4); (5, 5); (6, 6)]%nat.

(* A box center ± radius of a leg, and a bound of |b| in it *)
Record leg_box := LegBox {
  center_a : nvec; center_b : nvec; center_l : num; radius_a : nvec; radius_b : nvec; radius_l : num; b_most : num }.

Definition leg_box_of (center radius : list num) : option leg_box :=
  match center, radius with
  | [a1; a2; a3; b1; b2; b3; l], [s1; s2; s3; t1; t2; t3; u] =>
      let '(cb, rb) := (NVec b1 b2 b3, NVec t1 t2 t3) in
      let b := nadd (nabs cb) rb in
      Some (LegBox (NVec a1 a2 a3) cb l (NVec s1 s2 s3) rb u (root_above (inner b b)))
  | _, _ => None
  end.

(* Coefficients of h_a, h_b and h_l; of the products of h_a1, h_a2 and h_a3 with h_b *)
Definition bilinear (a b : nvec) (l : num) (m1 m2 m3 : nvec) : list num :=
  [n1 a; n2 a; n3 a; n1 b; n2 b; n3 b; l;
   n1 m1; n2 m1; n3 m1; n1 m2; n2 m2; n3 m2; n1 m3; n2 m3; n3 m3].

(* A pose around the center of a box, everything times n = |q|²: with v = R b and p the position seen from a,
   d = v + p and m = v × p at the center; how far each of their components goes from there in the box; how far the
   components of v do; and the coefficients of h_b in m, one vector for each component. *)
Record local := Local {
  at_M : nmat; at_n : num; at_p : nvec; at_v : nvec; at_d : nvec; v_reach : nvec; d_reach : nvec; at_length : num;
  at_m : nvec; m_reach : nvec; along1 : nvec; along2 : nvec; along3 : nvec }.

(* Component i of m, v_j p_k − v_k p_j: the coefficients of h_b, the value, and how far it goes *)
Definition moment_along (rj rk : nvec) (pj pk : num) : nvec := nsub (ntimes pk rj) (ntimes pj rk).
Definition moment (vj vk pj pk : num) : num := sub (mul vj pk) (mul vk pj).
Definition moment_reach (along rb : nvec) (vj vk tj tk sj sk : num) : num :=
  add (inner (nabs along) rb) (add (mul (add (abs vj) tj) sk) (mul (add (abs vk) tk) sj)).

Definition around (B : leg_box) (k : pose) : local :=
  let (M, n) := rotation_of k in
  let '(ra, rb) := (radius_a B, radius_b B) in
  let p := nsub (position k) (center_a B) in
  let v := napply M (center_b B) in
  let t := napply (NMat (nabs (r1 M)) (nabs (r2 M)) (nabs (r3 M))) rb in
  let l1 := moment_along (r2 M) (r3 M) (n2 p) (n3 p) in
  let l2 := moment_along (r3 M) (r1 M) (n3 p) (n1 p) in
  let l3 := moment_along (r1 M) (r2 M) (n1 p) (n2 p) in
  Local M n p v (nadd v (ntimes n p)) t (nadd (ntimes n ra) t) (add (reading k) (center_l B))
    (NVec (moment (n2 v) (n3 v) (n2 p) (n3 p))
          (moment (n3 v) (n1 v) (n3 p) (n1 p))
          (moment (n1 v) (n2 v) (n1 p) (n2 p)))
    (NVec (moment_reach l1 rb (n2 v) (n3 v) (n2 t) (n3 t) (n2 ra) (n3 ra))
          (moment_reach l2 rb (n3 v) (n1 v) (n3 t) (n1 t) (n3 ra) (n1 ra))
          (moment_reach l3 rb (n1 v) (n2 v) (n1 t) (n2 t) (n1 ra) (n2 ra)))
    l1 l2 l3.

(* n (|d|² − (l + reading)²): coefficients of columns, and the value at the center *)
Definition equation (B : leg_box) (A : local) : list num * num :=
  let '(M, n, L) := (at_M A, at_n A, at_length A) in
  let along := nadd (ntimes n (center_b B)) (napply (transpose M) (at_p A)) in
  let minus_two := of_Z (-2) in
  let squares := sub (add (inner (center_b B) (center_b B)) (inner (at_p A) (at_p A))) (mul L L) in
  (bilinear (ntimes minus_two (at_d A)) (ntimes two along) (mul minus_two (mul n L))
     (ntimes minus_two (r1 M)) (ntimes minus_two (r2 M)) (ntimes minus_two (r3 M)) ++ [n; n; n; n; n; n; neg n],
   add (mul n squares) (mul two (inner (at_v A) (at_p A)))).

(* 2 t |x| from above, added to coefficients and a constant; x is [form] of the columns plus [middle] *)
Definition add_chord (form : list num) (middle reach t : num) (acc : list num * num) : list num * num :=
  if is_zero t then acc
  else
    let (slope, height) := chord (sub middle reach) (add middle reach) in
    let t := mul two t in
    (axpy (mul t slope) form (fst acc), add (snd acc) (mul t (add (mul slope middle) height))).

(* The coefficients of d and m, component by component *)
Definition d_form (a row : nvec) : list num := [n1 a; n2 a; n3 a; n1 row; n2 row; n3 row].
Definition d_form1 (A : local) : list num := d_form (NVec (neg (at_n A)) zero zero) (r1 (at_M A)).
Definition d_form2 (A : local) : list num := d_form (NVec zero (neg (at_n A)) zero) (r2 (at_M A)).
Definition d_form3 (A : local) : list num := d_form (NVec zero zero (neg (at_n A))) (r3 (at_M A)).
Definition m_form1 (A : local) : list num :=
  let '(M, v) := (at_M A, at_v A) in
  bilinear (NVec zero (n3 v) (neg (n2 v))) (along1 A) zero nzero (r3 M) (nneg (r2 M)).
Definition m_form2 (A : local) : list num :=
  let '(M, v) := (at_M A, at_v A) in
  bilinear (NVec (neg (n3 v)) zero (n1 v)) (along2 A) zero (nneg (r3 M)) nzero (r1 M).
Definition m_form3 (A : local) : list num :=
  let '(M, v) := (at_M A, at_v A) in
  bilinear (NVec (n2 v) (neg (n1 v)) zero) (along3 A) zero (r2 M) (nneg (r1 M)) nzero.

(* 2 Σ |d_i| δ_i + 2 Σ |m_i| ω_i from above, added *)
Definition add_spread (A : local) (tp tw : nvec) (acc : list num * num) : list num * num :=
  let '(d, dr, m, mr) := (at_d A, d_reach A, at_m A, m_reach A) in
  let acc := add_chord (d_form1 A) (n1 d) (n1 dr) (n1 tp) acc in
  let acc := add_chord (d_form2 A) (n2 d) (n2 dr) (n2 tp) acc in
  let acc := add_chord (d_form3 A) (n3 d) (n3 dr) (n3 tp) acc in
  let acc := add_chord (m_form1 A) (n1 m) (n1 mr) (n1 tw) acc in
  let acc := add_chord (m_form2 A) (n2 m) (n2 mr) (n2 tw) acc in
  add_chord (m_form3 A) (n3 m) (n3 mr) (n3 tw) acc.

(* Where errors of the pose are columns: 2 Σ |d_i − d_i(center)| δ_i + 2 Σ |m_i − m_i(center)| ω_i from above *)
Definition remainder (A : local) (tp tw : nvec) : num :=
  add (mul two (inner tp (d_reach A))) (mul two (inner tw (m_reach A))).
Definition slopes (A : local) : list num :=
  let '(d, m) := (at_d A, at_m A) in map (mul two) [n1 d; n2 d; n3 d; n1 m; n2 m; n3 m].

(* Both sides of a pose: n (|d|² − (l + reading)²) from above and from below *)
Definition leg_rows (B : leg_box) (more : num) (shared : bool) (k : pose) : brow * brow :=
  let A := around B k in
  let '(tp, tw, n, L) := (position_tolerance k, rotation_tolerance k, at_n A, at_length A) in
  let turn := inner tw tw in
  let e := mul (mul half turn) (b_most B) in
  let T := max (add (reading_tolerance k) more) zero in
  let farthest := nadd (nabs (at_d A)) (d_reach A) in
  let (F, f) := equation B A in
  let G := [zero; zero; zero; zero; zero; zero; mul (mul two T) n] in
  let g := add (mul (mul (mul two T) L) n) (mul (mul two (root_above (inner farthest farthest))) e) in
  let (G, g) := if shared then (G, add g (remainder A tp tw)) else add_spread A tp tw (G, g) in
  let slope := if shared then slopes A else [] in
  let square := Num.square (add (add (root_above (inner tp tp)) (mul (root_above turn) (b_most B))) e) in
  let TT := mul T T in
  let shorter := if le T (sub L (radius_l B)) then neg TT else mul (of_Z 3) TT in
  (BRow (axpy (neg one) G F) slope (add (sub g f) (mul n TT)),
   BRow (axpy (neg one) G (map neg F)) (map neg slope) (add (add g f) (mul n (add square shorter)))).

(* Why the rows hold ------------------------------------------------------------------------------------------------ *)

Global Hint Rewrite val_add val_sub val_mul val_neg val_abs val_of_Z val_zero val_one val_half val_two val_max val_inner
  : val.

Lemma abs_dot u h r : within h r -> Rabs (dot u h) <= dot (vabs u) r.
Proof.
  intros (A & B & C). unfold dot, vabs; simpl.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. apply Rplus_le_compat.
  - eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    apply Rplus_le_compat; apply Rmult_le_compat_l; auto; apply Rabs_pos.
  - apply Rmult_le_compat_l; auto; apply Rabs_pos.
Qed.

(* |quantity| ≤ slope · quantity + height, times 2 t *)
Lemma add_chord_spec f middle reach t acc y eps : Rabs (rdot f y) <= val reach -> Rabs eps <= val t ->
  let acc' := add_chord f middle reach t acc in
  rdot (fst acc) y + val (snd acc) + 2 * Rabs ((val middle + rdot f y) * eps) <= rdot (fst acc') y + val (snd acc').
Proof.
  intros R E. unfold add_chord. assert (P := Rabs_pos eps). rewrite Rabs_mult.
  destruct (is_zero t) eqn:Z.
  - apply is_zero_spec in Z. replace (Rabs eps) with 0 by lra. simpl. lra.
  - destruct (chord _ _) as [slope height] eqn:C. cbv zeta. cbn [fst snd].
    rewrite rdot_axpy, !val_add, !val_mul, !val_add, !val_mul, val_two.
    assert (K := chord_holds (sub middle reach) (add middle reach) (val middle + rdot f y)).
    rewrite C, val_sub, val_add in K. simpl in K. apply abs_between in R. specialize (K ltac:(lra)).
    set (X := Rabs (val middle + rdot f y)) in *.
    assert (0 <= X) by apply Rabs_pos.
    assert (X * Rabs eps <= X * val t) by (apply Rmult_le_compat_l; assumption).
    assert (X * val t <= (val slope * (val middle + rdot f y) + val height) * val t)
      by (apply Rmult_le_compat_r; lra).
    lra.
Qed.

(* How far v_j p_k − v_k p_j goes in a box *)
Lemma moment_goes (mj mk along hb rb : vec) (vj vk tj tk hj hk sj sk pj pk : R) :
  within hb rb -> Rabs hj <= sj -> Rabs hk <= sk -> dot (vabs mj) rb <= tj -> dot (vabs mk) rb <= tk ->
  Rabs (dot along hb - vj * hk + vk * hj - dot mj hb * hk + dot mk hb * hj)
  <= dot (vabs along) rb + ((Rabs vj + tj) * sk + (Rabs vk + tk) * sj).
Proof.
  intros H J K Tj Tk. assert (A := abs_dot along _ _ H).
  assert (Bj := abs_dot mj _ _ H). assert (Bk := abs_dot mk _ _ H).
  assert (X : Rabs ((vj + dot mj hb) * hk) <= (Rabs vj + tj) * sk).
  { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [|assumption].
    eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (Y : Rabs ((vk + dot mk hb) * hj) <= (Rabs vk + tk) * sj).
  { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [|assumption].
    eapply Rle_trans; [apply Rabs_triang|]. lra. }
  replace (_ + _) with (dot along hb - (vj + dot mj hb) * hk + (vk + dot mk hb) * hj) at 1 by ring.
  apply abs_between in A, X, Y. apply Rabs_le. lra.
Qed.

(* The columns of a leg at h = x − center *)
Definition leg_columns (ha hb : vec) (hl : R) : list R :=
  columns leg_products [x1 ha; x2 ha; x3 ha; x1 hb; x2 hb; x3 hb; hl].

Lemma rdot_bilinear a b l m1 m2 m3 ha hb hl : rdot (bilinear a b l m1 m2 m3) (leg_columns ha hb hl) =
  dot (real a) ha + dot (real b) hb + val l * hl
  + x1 ha * dot (real m1) hb + x2 ha * dot (real m2) hb + x3 ha * dot (real m3) hb.
Proof. unfold bilinear, leg_columns, columns, leg_products, dot. simpl. ring. Qed.

Definition mapply (M : nmat) (u : vec) : vec := Vec (dot (real (r1 M)) u) (dot (real (r2 M)) u) (dot (real (r3 M)) u).

(* n (|b|² + |p − a|² − s²) + 2 n R b · (p − a) in terms of columns *)
Lemma equation_is B A ha hb hl :
  at_v A = napply (at_M A) (center_b B) -> at_d A = nadd (at_v A) (ntimes (at_n A) (at_p A)) ->
  let b := vadd (real (center_b B)) hb in
  let P := vsub (real (at_p A)) ha in
  let s := val (at_length A) + hl in
  rdot (fst (equation B A)) (leg_columns ha hb hl) + val (snd (equation B A))
  = val (at_n A) * (dot b b + dot P P - s * s) + 2 * dot (mapply (at_M A) b) P.
Proof.
  intros Ev Ed. unfold equation. rewrite Ed, Ev.
  destruct A as [M n p v d vr dr L m mr l1 l2 l3], B as [ca c cl ra rb rl bm].
  destruct M as [[m11 m12 m13] [m21 m22 m23] [m31 m32 m33]], p as [p1 p2 p3], c as [c1 c2 c3].
  destruct ha as [a1 a2 a3], hb as [b1 b2 b3].
  unfold bilinear, leg_columns, columns, leg_products, napply, mapply; simpl. autorewrite with val.
  unfold dot; simpl. autorewrite with val. unfold dot; simpl. ring.
Qed.

(* What [around] gives, without the quaternion *)
Definition laid_out (B : leg_box) (A : local) : Prop :=
  let '(M, n, p, v, t, ra, rb) := (at_M A, at_n A, at_p A, at_v A, v_reach A, radius_a B, radius_b B) in
  v = napply M (center_b B) /\ at_d A = nadd v (ntimes n p) /\
  t = napply (NMat (nabs (r1 M)) (nabs (r2 M)) (nabs (r3 M))) rb /\ d_reach A = nadd (ntimes n ra) t /\
  along1 A = moment_along (r2 M) (r3 M) (n2 p) (n3 p) /\
  along2 A = moment_along (r3 M) (r1 M) (n3 p) (n1 p) /\
  along3 A = moment_along (r1 M) (r2 M) (n1 p) (n2 p) /\
  at_m A = NVec (moment (n2 v) (n3 v) (n2 p) (n3 p))
                (moment (n3 v) (n1 v) (n3 p) (n1 p))
                (moment (n1 v) (n2 v) (n1 p) (n2 p)) /\
  m_reach A = NVec (moment_reach (along1 A) rb (n2 v) (n3 v) (n2 t) (n3 t) (n2 ra) (n3 ra))
                   (moment_reach (along2 A) rb (n3 v) (n1 v) (n3 t) (n1 t) (n3 ra) (n1 ra))
                   (moment_reach (along3 A) rb (n1 v) (n2 v) (n1 t) (n2 t) (n1 ra) (n2 ra)).

Lemma around_laid_out B k : laid_out B (around B k).
Proof. unfold laid_out, around. destruct (rotation_of k) as [M n]. simpl. repeat split. Qed.

(* [form] of the columns plus [middle] is the quantity X, which goes no farther than [reach] from [middle]. *)
Definition tracks (form : list num) (middle reach : num) (y : list R) (X : R) : Prop :=
  val middle + rdot form y = X /\ Rabs (rdot form y) <= val reach.

Lemma d_tracks (row : vec) (n h r : R) (hb rb : vec) : 0 <= n -> Rabs h <= r -> within hb rb ->
  Rabs (- (n * h) + dot row hb) <= n * r + dot (vabs row) rb.
Proof.
  intros N H W. assert (K := abs_dot row _ _ W).
  assert (L : Rabs (n * h) <= n * r) by (rewrite Rabs_mult, (Rabs_pos_eq n N); apply Rmult_le_compat_l; assumption).
  apply abs_between in K, L. apply Rabs_le. lra.
Qed.

Section Tracks.
  Variables (B : leg_box) (A : local) (ha hb : vec) (hl : R).
  Hypothesis Laid : laid_out B A.
  Hypothesis N : 0 <= val (at_n A).
  Hypothesis InA : within ha (real (radius_a B)).
  Hypothesis InB : within hb (real (radius_b B)).
  Let y := leg_columns ha hb hl.
  Let W : vec := mapply (at_M A) (real (center_b B) + hb).
  Let P : vec := (real (at_p A) - ha)%vec.
  Let D : vec := (W + val (at_n A) * P)%vec.
  Let m : vec := (W × P)%vec.

  Lemma v_reach_is : real (v_reach A) =
    Vec (dot (vabs (real (r1 (at_M A)))) (real (radius_b B))) (dot (vabs (real (r2 (at_M A)))) (real (radius_b B)))
        (dot (vabs (real (r3 (at_M A)))) (real (radius_b B))).
  Proof.
    destruct Laid as (_ & _ & Et & _). rewrite Et. unfold napply, real at 1; simpl.
    rewrite !val_inner, !real_abs. reflexivity.
  Qed.

  Ltac d_part :=
    destruct Laid as (Ev & Ed & _ & Er & _); assert (T := v_reach_is); injection T as T1 T2 T3;
    destruct InA as (A1 & A2 & A3); simpl in A1, A2, A3; split;
    [ rewrite Ed, Ev; unfold D, W, P, mapply, napply, dot; simpl; autorewrite with val;
      unfold d_form, y, leg_columns, columns, dot; simpl; autorewrite with val; unfold dot; simpl; ring
    | ].

  Lemma d1_tracks : tracks (d_form1 A) (n1 (at_d A)) (n1 (d_reach A)) y (x1 D).
  Proof.
    d_part. rewrite Er. simpl. autorewrite with val. rewrite T1.
    eapply Rle_trans; [|apply (d_tracks _ _ (x1 ha) _ hb); assumption]. right. f_equal.
    unfold dot; simpl. ring.
  Qed.
  Lemma d2_tracks : tracks (d_form2 A) (n2 (at_d A)) (n2 (d_reach A)) y (x2 D).
  Proof.
    d_part. rewrite Er. simpl. autorewrite with val. rewrite T2.
    eapply Rle_trans; [|apply (d_tracks _ _ (x2 ha) _ hb); assumption]. right. f_equal.
    unfold dot; simpl. ring.
  Qed.
  Lemma d3_tracks : tracks (d_form3 A) (n3 (at_d A)) (n3 (d_reach A)) y (x3 D).
  Proof.
    d_part. rewrite Er. simpl. autorewrite with val. rewrite T3.
    eapply Rle_trans; [|apply (d_tracks _ _ (x3 ha) _ hb); assumption]. right. f_equal.
    unfold dot; simpl. ring.
  Qed.

  Ltac m_part form :=
    destruct Laid as (Ev & _ & _ & _ & E1 & E2 & E3 & Em & Er); assert (T := v_reach_is); injection T as T1 T2 T3;
    destruct InA as (A1 & A2 & A3); simpl in A1, A2, A3; unfold form, tracks, y; rewrite rdot_bilinear; split;
    [ rewrite Em, ?E1, ?E2, ?E3, Ev; unfold m, W, P, mapply, napply, moment, moment_along, dot; simpl;
      autorewrite with val; unfold dot; simpl; autorewrite with val; ring
    | rewrite Er; simpl; unfold moment_reach; autorewrite with val; rewrite ?real_abs ].

  Lemma m1_tracks : tracks (m_form1 A) (n1 (at_m A)) (n1 (m_reach A)) y (x1 m).
  Proof.
    m_part m_form1. rewrite T2, T3.
    eapply Rle_trans; [|apply (moment_goes (real (r2 (at_M A))) (real (r3 (at_M A))) _ hb _ _ _ _ _ (x2 ha) (x3 ha));
      try assumption; try apply Rle_refl]. right. f_equal. rewrite real_zero, real_neg. unfold dot; simpl.
    autorewrite with val. ring.
  Qed.
  Lemma m2_tracks : tracks (m_form2 A) (n2 (at_m A)) (n2 (m_reach A)) y (x2 m).
  Proof.
    m_part m_form2. rewrite T1, T3.
    eapply Rle_trans; [|apply (moment_goes (real (r3 (at_M A))) (real (r1 (at_M A))) _ hb _ _ _ _ _ (x3 ha) (x1 ha));
      try assumption; try apply Rle_refl]. right. f_equal. rewrite real_zero, real_neg. unfold dot; simpl.
    autorewrite with val. ring.
  Qed.
  Lemma m3_tracks : tracks (m_form3 A) (n3 (at_m A)) (n3 (m_reach A)) y (x3 m).
  Proof.
    m_part m_form3. rewrite T1, T2.
    eapply Rle_trans; [|apply (moment_goes (real (r1 (at_M A))) (real (r2 (at_M A))) _ hb _ _ _ _ _ (x1 ha) (x2 ha));
      try assumption; try apply Rle_refl]. right. f_equal. rewrite real_zero, real_neg. unfold dot; simpl.
    autorewrite with val. ring.
  Qed.

  Variables (tp tw : nvec) (delta omega : vec).
  Hypothesis Delta : within delta (real tp).
  Hypothesis Omega : within omega (real tw).

  (* What errors of the pose add, from above *)
  Lemma add_spread_spec acc : let acc' := add_spread A tp tw acc in
    rdot (fst acc) y + val (snd acc) + Rabs (2 * dot D delta + 2 * dot m omega) <= rdot (fst acc') y + val (snd acc').
  Proof.
    destruct Delta as (P1 & P2 & P3), Omega as (Q1 & Q2 & Q3). simpl in P1, P2, P3, Q1, Q2, Q3.
    destruct d1_tracks as [E1 B1], d2_tracks as [E2 B2], d3_tracks as [E3 B3].
    destruct m1_tracks as [F1 C1], m2_tracks as [F2 C2], m3_tracks as [F3 C3].
    unfold add_spread. cbv zeta beta iota.
    set (acc1 := add_chord (d_form1 A) _ _ _ acc). assert (K1 := add_chord_spec _ (n1 (at_d A)) _ _ acc y _ B1 P1).
    fold acc1 in K1. rewrite E1 in K1. clearbody acc1.
    set (acc2 := add_chord (d_form2 A) _ _ _ acc1). assert (K2 := add_chord_spec _ (n2 (at_d A)) _ _ acc1 y _ B2 P2).
    fold acc2 in K2. rewrite E2 in K2. clearbody acc2.
    set (acc3 := add_chord (d_form3 A) _ _ _ acc2). assert (K3 := add_chord_spec _ (n3 (at_d A)) _ _ acc2 y _ B3 P3).
    fold acc3 in K3. rewrite E3 in K3. clearbody acc3.
    set (acc4 := add_chord (m_form1 A) _ _ _ acc3). assert (K4 := add_chord_spec _ (n1 (at_m A)) _ _ acc3 y _ C1 Q1).
    fold acc4 in K4. rewrite F1 in K4. clearbody acc4.
    set (acc5 := add_chord (m_form2 A) _ _ _ acc4). assert (K5 := add_chord_spec _ (n2 (at_m A)) _ _ acc4 y _ C2 Q2).
    fold acc5 in K5. rewrite F2 in K5. clearbody acc5.
    set (acc6 := add_chord (m_form3 A) _ _ _ acc5). assert (K6 := add_chord_spec _ (n3 (at_m A)) _ _ acc5 y _ C3 Q3).
    fold acc6 in K6. rewrite F3 in K6. clearbody acc6.
    cbv zeta in *. unfold dot.
    assert (S : forall a b c d e f, Rabs (2 * (a + b + c) + 2 * (d + e + f))
        <= 2 * Rabs a + 2 * Rabs b + 2 * Rabs c + 2 * Rabs d + 2 * Rabs e + 2 * Rabs f).
    { intros. apply Rabs_le.
      assert (R1 := abs_between a _ (Rle_refl _)); assert (R2 := abs_between b _ (Rle_refl _));
      assert (R3 := abs_between c _ (Rle_refl _)); assert (R4 := abs_between d _ (Rle_refl _));
      assert (R5 := abs_between e _ (Rle_refl _)); assert (R6 := abs_between f _ (Rle_refl _)). lra. }
    assert (Z := S (x1 D * x1 delta) (x2 D * x2 delta) (x3 D * x3 delta)
                   (x1 m * x1 omega) (x2 m * x2 omega) (x3 m * x3 omega)).
    lra.
  Qed.

  Lemma times_within a b r t : Rabs a <= r -> Rabs b <= t -> - (t * r) <= a * b <= t * r.
  Proof. intros. apply abs_between. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; auto; apply Rabs_pos. Qed.

  Lemma remainder_spec : Rabs (2 * dot D delta + 2 * dot m omega - rdot (slopes A)
      [x1 delta; x2 delta; x3 delta; x1 omega; x2 omega; x3 omega]) <= val (remainder A tp tw).
  Proof.
    destruct Delta as (P1 & P2 & P3), Omega as (Q1 & Q2 & Q3). simpl in P1, P2, P3, Q1, Q2, Q3.
    destruct d1_tracks as [E1 B1], d2_tracks as [E2 B2], d3_tracks as [E3 B3].
    destruct m1_tracks as [F1 C1], m2_tracks as [F2 C2], m3_tracks as [F3 C3].
    unfold remainder, dot. rewrite <- E1, <- E2, <- E3, <- F1, <- F2, <- F3.
    set (u1 := rdot (d_form1 A) y) in *; set (u2 := rdot (d_form2 A) y) in *; set (u3 := rdot (d_form3 A) y) in *.
    set (w1 := rdot (m_form1 A) y) in *; set (w2 := rdot (m_form2 A) y) in *; set (w3 := rdot (m_form3 A) y) in *.
    clearbody u1 u2 u3 w1 w2 w3.
    unfold slopes. simpl rdot. autorewrite with val. unfold dot; simpl.
    assert (K1 := times_within _ _ _ _ B1 P1). assert (K2 := times_within _ _ _ _ B2 P2).
    assert (K3 := times_within _ _ _ _ B3 P3). assert (K4 := times_within _ _ _ _ C1 Q1).
    assert (K5 := times_within _ _ _ _ C2 Q2). assert (K6 := times_within _ _ _ _ C3 Q3).
    apply Rabs_le. lra.
  Qed.

  (* |d| in the box *)
  Lemma far_spec : let f := nadd (nabs (at_d A)) (d_reach A) in norm D <= val (root_above (inner f f)).
  Proof.
    cbv zeta. apply within_norm with (real (nadd (nabs (at_d A)) (d_reach A))).
    - destruct d1_tracks as [E1 B1], d2_tracks as [E2 B2], d3_tracks as [E3 B3].
      unfold within. rewrite <- E1, <- E2, <- E3.
      cbn [real nadd nabs x1 x2 x3 n1 n2 n3]. autorewrite with val.
      repeat split; (eapply Rle_trans; [apply Rabs_triang|lra]).
    - apply root_above_nonneg.
    - rewrite <- val_inner. apply root_above_spec.
  Qed.
End Tracks.

(* Columns of the errors of a pose *)
Definition errors (delta omega : vec) : list R := [x1 delta; x2 delta; x3 delta; x1 omega; x2 omega; x3 omega].

Lemma rdot_map_neg a : forall y, rdot (map neg a) y = - rdot a y.
Proof. induction a as [|c a IH]; intros [|z y]; simpl; try ring. rewrite IH, val_neg. ring. Qed.

(* Both rows hold of every leg of the box that fits the pose with these errors. *)
Theorem leg_rows_sound B more shared k x delta omega :
  let ha := vsub (base x) (real (center_a B)) in
  let hb := vsub (platform x) (real (center_b B)) in
  let hl := offset x - val (center_l B) in
  0 < size (attitude k) ->
  within ha (real (radius_a B)) -> within hb (real (radius_b B)) -> Rabs hl <= val (radius_l B) ->
  norm (platform x) <= val (b_most B) ->
  fits_with k more x delta omega ->
  let y := leg_columns ha hb hl in
  let e := errors delta omega in
  bholds (fst (leg_rows B more shared k)) y e /\ bholds (snd (leg_rows B more shared k)) y e.
Proof.
  intros ha hb hl N InA InB InL Most (Delta & Omega & eta & Eta & Fits) y e.
  set (A := around B k). assert (Laid : laid_out B A) by apply around_laid_out.
  assert (Rot : val (at_n A) = size (attitude k) /\ (forall u, turned (attitude k) u = mapply (at_M A) u) /\
                at_p A = nsub (position k) (center_a B) /\ at_length A = add (reading k) (center_l B)).
  { unfold A, around. destruct (rotation_of k) as [M m] eqn:E. simpl. apply rotation_spec in E. destruct E as [E F].
    repeat split; auto. }
  destruct Rot as (En & Et & Ep & El).
  assert (N0 : 0 <= val (at_n A)) by lra.
  assert (Eb : vadd (real (center_b B)) hb = platform x) by (apply vec_eq; simpl; ring).
  assert (EP : vsub (real (at_p A)) ha = vsub (real (position k)) (base x))
    by (rewrite Ep, real_sub; apply vec_eq; simpl; ring).
  assert (Es : val (at_length A) + hl = offset x + val (reading k)) by (rewrite El, val_add; unfold hl; ring).
  assert (Equation := equation_is B A ha hb hl (proj1 Laid) (proj1 (proj2 Laid))). cbv zeta in Equation.
  rewrite Eb, EP, Es, <- Et, En in Equation. fold y in Equation.
  assert (Spread := add_spread_spec B A ha hb hl Laid N0 InA InB _ _ _ _ Delta Omega). cbv zeta in Spread.
  rewrite Eb, EP, <- Et, En in Spread. fold y in Spread.
  assert (Rest := remainder_spec B A ha hb hl Laid N0 InA InB _ _ _ _ Delta Omega).
  rewrite Eb, EP, <- Et, En in Rest. fold (errors delta omega) in Rest. fold e in Rest.
  assert (Far := far_spec B A ha hb hl Laid N0 InA InB). cbv zeta in Far. rewrite Eb, EP, <- Et, En in Far.
  unfold leg_rows. fold A. clearbody A. cbv zeta beta iota. destruct (equation B A) as [F f]. cbn [fst snd] in Equation.
  set (far := root_above (inner (nadd (nabs (at_d A)) (d_reach A)) (nadd (nabs (at_d A)) (d_reach A)))) in *.
  set (tp := position_tolerance k) in *. set (tw := rotation_tolerance k) in *.
  set (T := max (add (reading_tolerance k) more) zero).
  assert (ET : val T = Rmax (val (reading_tolerance k) + val more) 0)
    by (unfold T; rewrite val_max, val_add, val_zero; reflexivity).
  rewrite <- ET in Eta. clear ET. clearbody T ha hb hl.
  assert (Move : norm delta <= val (root_above (inner tp tp))).
  { apply within_norm with (real tp); [assumption|apply root_above_nonneg|].
    rewrite <- val_inner. apply root_above_spec. }
  assert (Spin2 : norm omega * norm omega <= val (inner tw tw))
    by (rewrite norm_sq, val_inner; apply within_dot; assumption).
  assert (Spin : norm omega <= val (root_above (inner tw tw))).
  { apply le_of_squares; [apply root_above_nonneg|]. eapply Rle_trans; [apply Spin2|apply root_above_spec]. }
  set (move := root_above (inner tp tp)) in *. set (spin := root_above (inner tw tw)) in *.
  set (turn := inner tw tw) in *. clearbody far move spin turn.
  assert (Above := first_order_above (attitude k) (real (position k)) (base x) (platform x) delta omega
    (offset x + val (reading k)) eta (val T) _ _ _ _ _ N Most Far Move Spin Spin2 Eta Fits).
  set (TT := mul T T). set (shorter := if le T _ then neg TT else mul (of_Z 3) TT).
  assert (Sh : val shorter = 3 * (val T * val T) \/
               (val shorter = - (val T * val T) /\ val T <= offset x + val (reading k))).
  { unfold shorter. destruct (le T (sub (at_length A) (radius_l B))) eqn:E.
    - right. apply le_spec in E. rewrite val_sub in E. apply abs_between in InL.
      unfold TT. rewrite val_neg, val_mul. split; [reflexivity|lra].
    - left. unfold TT. rewrite !val_mul, val_of_Z. reflexivity. }
  assert (Below := first_order_below (attitude k) (real (position k)) (base x) (platform x) delta omega
    (offset x + val (reading k)) eta (val T) _ _ _ _ _ N Most Far Move Spin Spin2 Eta Fits _ Sh).
  clearbody shorter. unfold first_order in Above, Below.
  set (eq := size (attitude k) * (dot (platform x) (platform x) + dot (real (position k) - base x)
    (real (position k) - base x) - (offset x + val (reading k)) * (offset x + val (reading k))) +
    2 * dot (turned (attitude k) (platform x)) (real (position k) - base x)) in *.
  set (e1 := 2 * dot (turned (attitude k) (platform x) + size (attitude k) * (real (position k) - base x)) delta) in *.
  set (e2 := 2 * dot (turned (attitude k) (platform x) × (real (position k) - base x)) omega) in *.
  set (G := [zero; zero; zero; zero; zero; zero; mul (mul two T) (at_n A)]).
  set (g := add (mul (mul (mul two T) (at_length A)) (at_n A)) (mul (mul two far) (mul (mul half turn) (b_most B)))).
  assert (EG : rdot G y + val g = 2 * val T * (offset x + val (reading k)) * size (attitude k)
      + 2 * (val far * (/ 2 * val turn * val (b_most B)))).
  { unfold G, g, y, leg_columns, columns, leg_products. simpl. autorewrite with val. rewrite <- Es, En. field. }
  clearbody G g.
  assert (ESq : val (square (add (add move (mul spin (b_most B))) (mul (mul half turn) (b_most B)))) =
    (val move + val spin * val (b_most B) + / 2 * val turn * val (b_most B)) *
    (val move + val spin * val (b_most B) + / 2 * val turn * val (b_most B))).
  { rewrite val_square. autorewrite with val. field. }
  destruct shared; cbv beta iota.
  - apply abs_between in Rest. unfold bholds, TT; cbn [fst snd coefs errs bside].
    split; rewrite rdot_axpy, ?rdot_map_neg; autorewrite with val; rewrite ?ESq, En; lra.
  - specialize (Spread (G, g)). destruct (add_spread A tp tw (G, g)) as [G' g']. cbn [fst snd] in Spread.
    assert (K := abs_between _ _ (Rle_refl (Rabs (e1 + e2)))). unfold bholds, TT; cbn [fst snd coefs errs bside map].
    split; rewrite rdot_axpy, ?rdot_map_neg; change (rdot [] e) with 0; autorewrite with val; rewrite ?ESq, En; lra.
Qed.

(* A leg as a chain of Boxes.v -------------------------------------------------------------------------------------- *)

Definition leg_of (x : list R) : leg :=
  Leg (Vec (nth 0 x 0) (nth 1 x 0) (nth 2 x 0)) (Vec (nth 3 x 0) (nth 4 x 0) (nth 5 x 0)) (nth 6 x 0).

(* Poses of a question: the quaternion is not 0, and no tolerance is negative. *)
Definition not_negative (v : nvec) : bool := negb (is_neg (n1 v)) && negb (is_neg (n2 v)) && negb (is_neg (n3 v)).
Definition proper (k : pose) : bool :=
  is_pos (snd (rotation_of k)) && not_negative (position_tolerance k) && not_negative (rotation_tolerance k)
  && negb (is_neg (reading_tolerance k)).

Definition triple (l : list num) : option nvec := match l with [a; b; c] => Some (NVec a b c) | _ => None end.

(* A pose from lists of numbers: quaternion, position, the tolerances of both; the reading and its tolerance *)
Definition pose_of (quaternion position position_tolerance rotation_tolerance : list num)
    (reading reading_tolerance : num) : option pose :=
  match quaternion, triple position, triple position_tolerance, triple rotation_tolerance with
  | [w; x; y; z], Some p, Some tp, Some tw =>
      let k := Pose w x y z p tp tw reading reading_tolerance in if proper k then Some k else None
  | _, _, _, _ => None
  end.

Definition shared_tolerance (k : pose) : list num :=
  let '(tp, tw) := (position_tolerance k, rotation_tolerance k) in [n1 tp; n2 tp; n3 tp; n1 tw; n2 tw; n3 tw].

Definition leg_table (poses : list pose) (more : num) (center radius : list num) (shared : bool) (used : list bool) :
    list (option (brow * brow)) :=
  match leg_box_of center radius with
  | None => []
  | Some B => tabulate (fun k => Some (leg_rows B more shared k)) used poses
  end.

Definition leg_chain (poses : list pose) (more : num) : option chain :=
  if forallb proper poses
  then Some (Chain 7 leg_products (length poses) 0 (map shared_tolerance poses) (leg_table poses more))
  else None.

(* The unknowns x fit pose k with errors (δ, ω). A leg has no conditions. *)
Definition leg_meaning (poses : list pose) (more : num) : meaning :=
  Meaning
    (fun k e x => exists p delta omega,
       nth_error poses k = Some p /\ e = errors delta omega /\ fits_with p more (leg_of x) delta omega)
    (fun _ => True).

(* Of one leg, without its errors, this is [leg_fits]. *)
Theorem leg_meaning_fits poses more k x : (exists e, fits (leg_meaning poses more) k e x) <->
  exists p, nth_error poses k = Some p /\ leg_fits p more (leg_of x).
Proof.
  split.
  - intros (e & p & d & w & H & _ & F). exists p. split; [assumption|]. exists d, w. assumption.
  - intros (p & H & d & w & F). exists (errors d w), p, d, w. auto.
Qed.

(* Of several legs with shared errors: the same δ and ω of the pose serve all of them. *)
Theorem leg_meanings_fit legs more k xs :
  (exists e, Forall2 (fun poses x => fits (leg_meaning poses more) k e x) legs xs) <->
  exists delta omega, Forall2 (fun poses x => exists p, nth_error poses k = Some p /\
                                                fits_with p more (leg_of x) delta omega) legs xs.
Proof.
  split.
  - intros [e F]. pose (v i := nth i e 0).
    exists (Vec (v 0%nat) (v 1%nat) (v 2%nat)), (Vec (v 3%nat) (v 4%nat) (v 5%nat)).
    induction F as [|poses x legs xs (p & [d1 d2 d3] & [w1 w2 w3] & K & E & W) F IH]; constructor; auto.
    exists p. split; [assumption|]. unfold v. rewrite E. exact W.
  - intros (d & w & F). exists (errors d w).
    induction F as [|poses x legs xs (p & K & W) F IH]; constructor; auto. exists p, d, w. auto.
Qed.

Lemma proper_size k : proper k = true -> 0 < size (attitude k).
Proof.
  unfold proper. rewrite !andb_true_iff. intros [[[H _] _] _]. apply is_pos_spec in H.
  destruct (rotation_of k) as [M n] eqn:E. apply rotation_spec in E. destruct E as [E _]. simpl in H.
  unfold attitude. rewrite <- E. assumption.
Qed.

Lemma leg_box_of_spec center radius B : leg_box_of center radius = Some B ->
  (let '(ca, cb, ra, rb) := (center_a B, center_b B, radius_a B, radius_b B) in
   center = [n1 ca; n2 ca; n3 ca; n1 cb; n2 cb; n3 cb; center_l B] /\
   radius = [n1 ra; n2 ra; n3 ra; n1 rb; n2 rb; n3 rb; radius_l B]) /\
  forall b, within (vsub b (real (center_b B))) (real (radius_b B)) -> norm b <= val (b_most B).
Proof.
  unfold leg_box_of. intros H.
  destruct center as [|a1 [|a2 [|a3 [|b1 [|b2 [|b3 [|l [|]]]]]]]]; try discriminate.
  destruct radius as [|s1 [|s2 [|s3 [|t1 [|t2 [|t3 [|u [|]]]]]]]]; try discriminate.
  cbv zeta in H. injection H as <-. cbn [center_a center_b center_l radius_a radius_b radius_l b_most n1 n2 n3].
  split; [split; reflexivity|]. intros b W.
  set (m := nadd (nabs (NVec b1 b2 b3)) (NVec t1 t2 t3)).
  apply within_norm with (real m); [|apply root_above_nonneg|rewrite <- val_inner; apply root_above_spec].
  destruct W as (W1 & W2 & W3). simpl in W1, W2, W3. unfold within; simpl. rewrite !val_add, !val_abs.
  assert (K : forall v c r, Rabs (v - c) <= r -> Rabs v <= Rabs c + r).
  { intros v c r K. replace v with (c + (v - c)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  auto.
Qed.

(* The rows of a leg hold of whatever fits, whether errors of poses are columns or not. *)
Theorem leg_sound poses more c : leg_chain poses more = Some c -> sound c (leg_meaning poses more).
Proof.
  unfold leg_chain. destruct (forallb proper poses) eqn:Pr; [|discriminate]. intros H; injection H as <-.
  rewrite forallb_forall in Pr. split.
  - intros k e x (p & d & w & K & -> & (D & W & _)). simpl.
    rewrite (nth_nth_error _ _ _ [] (map_nth_error _ _ _ K)).
    destruct D as (D1 & D2 & D3), W as (W1 & W2 & W3). unfold tolerated, errors, shared_tolerance.
    repeat (constructor; [assumption|]). constructor.
  - cbn [n_unknowns products n_poses table]. unfold leg_table.
    intros center radius shared used k above below e x T X C Ne F _.
    destruct (leg_box_of center radius) as [B|] eqn:E; [|destruct k; discriminate].
    apply leg_box_of_spec in E. destruct E as [[Ec Er] Most].
    apply tabulate_spec in T. destruct T as (p & K & R). injection R as R.
    assert (L : (k < length poses)%nat) by (apply nth_error_Some; congruence).
    destruct (F L) as (p' & d & w & K' & -> & Fits). rewrite K in K'. injection K' as <-.
    assert (N : 0 < size (attitude p)) by (apply proper_size, Pr; eapply nth_error_In; eassumption).
    destruct x as [|a1 [|a2 [|a3 [|b1 [|b2 [|b3 [|l [|]]]]]]]]; try discriminate.
    rewrite Ec, Er in Ne. rewrite Ec. cbn [dev] in *.
    unfold near in Ne. repeat match goal with K : Forall2 _ (_ :: _) (_ :: _) |- _ => inversion K; clear K; subst end.
    assert (K' := leg_rows_sound B more shared p (leg_of [a1; a2; a3; b1; b2; b3; l]) d w N).
    rewrite R in K'. apply K'; try (repeat split; assumption); try assumption.
    apply Most. repeat split; assumption.
Qed.

(* Legs that are exhibited ------------------------------------------------------------------------------------------ *)

(* Does the leg fit the pose with the position moved by δ and the attitude turned by the quaternion (1, v)? Its distance
   must be between l + reading − T and l + reading + T; squares are compared. *)
Definition witness_fits (k : pose) (more : num) (values exhibited : list num) : bool :=
  match values, exhibited with
  | [a1; a2; a3; b1; b2; b3; l], [e1; e2; e3; t1; t2; t3] =>
      let '(a, b, move, t) := (NVec a1 a2 a3, NVec b1 b2 b3, NVec e1 e2 e3, NVec t1 t2 t3) in
      let '(tp, tw) := (position_tolerance k, rotation_tolerance k) in
      let '(w, v) := (q0 k, NVec (q1 k) (q2 k) (q3 k)) in
      let scalar := sub w (inner t v) in
      let vx := sub (add (add (n1 v) (mul t1 w)) (mul t2 (n3 v))) (mul t3 (n2 v)) in
      let vy := sub (add (add (n2 v) (mul t2 w)) (mul t3 (n1 v))) (mul t1 (n3 v)) in
      let vz := sub (add (add (n3 v) (mul t3 w)) (mul t1 (n2 v))) (mul t2 (n1 v)) in
      let (M, n) := rotation scalar vx vy vz in
      let d := nadd (napply M b) (ntimes n (nsub (nadd (position k) move) a)) in
      let squared := inner d d in
      let s := add l (reading k) in
      let T := max (add (reading_tolerance k) more) zero in
      let most := mul n (add s T) in
      let least := mul n (sub s T) in
      le (abs e1) (n1 tp) && le (abs e2) (n2 tp) && le (abs e3) (n3 tp) &&
      le (mul two (abs t1)) (n1 tw) && le (mul two (abs t2)) (n2 tw) && le (mul two (abs t3)) (n3 tw) &&
      negb (is_neg most) && le squared (mul most most) && (negb (is_pos least) || le (mul least least) squared)
  | _, _ => false
  end.

(* The errors δ and ω that are exhibited *)
Definition exhibited_errors (exhibited : list num) : vec * vec :=
  let v i := val (nth i exhibited zero) in
  (Vec (v 0%nat) (v 1%nat) (v 2%nat), small_vector (Vec (v 3%nat) (v 4%nat) (v 5%nat))).

Theorem witness_fits_sound k more values exhibited : proper k = true -> witness_fits k more values exhibited = true ->
  let (delta, omega) := exhibited_errors exhibited in fits_with k more (leg_of (map val values)) delta omega.
Proof.
  intros Pr. apply proper_size in Pr. unfold witness_fits, exhibited_errors. cbv zeta.
  destruct values as [|a1 [|a2 [|a3 [|b1 [|b2 [|b3 [|l [|]]]]]]]]; try discriminate.
  destruct exhibited as [|e1 [|e2 [|e3 [|t1 [|t2 [|t3 [|]]]]]]]; try discriminate.
  cbn [nth map].
  match goal with |- context [rotation ?w ?x ?y ?z] => destruct (rotation w x y z) as [M n] eqn:E end.
  apply rotation_spec in E. destruct E as [En Et].
  match type of En with _ = size ?q' => set (q := q') in * end.
  assert (Eq : q = qmul (small_turn (Vec (val t1) (val t2) (val t3))) (attitude k)).
  { unfold q, qmul, small_turn, attitude; simpl. f_equal; rewrite ?val_sub, ?val_inner, ?val_add, ?val_mul;
      unfold dot; simpl; ring. }
  set (t := Vec (val t1) (val t2) (val t3)) in *.
  assert (St : 0 < size (small_turn t)) by (rewrite size_small; assert (K := dot_pos t); lra).
  assert (Sq : 0 < size q) by (rewrite Eq, size_qmul; apply Rmult_lt_0_compat; assumption).
  set (d := nadd _ _). set (s := add l (reading k)). set (T := max _ zero).
  rewrite !andb_true_iff. intros [[[[[[[[C1 C2] C3] C4] C5] C6] C7] C8] C9].
  apply le_spec in C1, C2, C3, C4, C5, C6, C8. rewrite val_abs in C1, C2, C3.
  rewrite val_mul, val_two, val_abs in C4, C5, C6.
  apply negb_true_iff, is_neg_false in C7. rewrite val_mul, val_add, En in C7.
  rewrite val_inner, !val_mul, val_add, En in C8.
  set (b := Vec (val b1) (val b2) (val b3)). set (a := Vec (val a1) (val a2) (val a3)).
  set (delta := Vec (val e1) (val e2) (val e3)).
  assert (ET : val T = Rmax (val (reading_tolerance k) + val more) 0)
    by (unfold T; rewrite val_max, val_add, val_zero; reflexivity).
  split; [repeat split; assumption|]. split.
  { apply small_vector_within. repeat split; simpl; rewrite Rabs_mult, (Rabs_pos_eq 2) by lra; assumption. }
  rewrite <- ET.
  change (offset (leg_of [val a1; val a2; val a3; val b1; val b2; val b3; val l])) with (val l).
  change (base (leg_of [val a1; val a2; val a3; val b1; val b2; val b3; val l])) with a.
  change (platform (leg_of [val a1; val a2; val a3; val b1; val b2; val b3; val l])) with b.
  rewrite small_turn_is_exp, <- rotate_qmul, <- Eq by lra.
  set (Y := (rotate q b + real (position k) + delta - a)%vec).
  assert (Dis : real d = scale (size q) Y).
  { unfold d. rewrite real_add, real_times, real_sub, real_add.
    replace (real (napply M (NVec b1 b2 b3))) with (turned q b)
      by (rewrite Et; unfold napply, real; simpl; rewrite !val_inner; reflexivity).
    rewrite <- rotate_turned by lra. rewrite En. apply vec_eq; simpl; ring. }
  assert (Dn : norm (real d) = size q * norm Y) by (rewrite Dis, norm_scale, Rabs_pos_eq; lra).
  rewrite <- norm_sq, Dn in C8.
  assert (Es : val s = val l + val (reading k)) by (unfold s; apply val_add).
  assert (Up : norm Y <= val s + val T).
  { apply le_of_squares in C8; [|assumption]. apply Rmult_le_reg_l with (size q); assumption. }
  assert (Down : val s - val T <= norm Y).
  { apply orb_true_iff in C9. destruct C9 as [C9|C9].
    - apply negb_true_iff in C9. assert (K := norm_pos Y).
      destruct (Rle_lt_dec (val s - val T) 0) as [Z|Z]; [lra|].
      assert (is_pos (mul n (sub s T)) = true); [|congruence].
      apply is_pos_spec. rewrite val_mul, val_sub, En. apply Rmult_lt_0_compat; assumption.
    - apply le_spec in C9. rewrite val_inner, !val_mul, val_sub, En, <- norm_sq, Dn in C9.
      apply le_of_squares in C9; [|apply Rmult_le_pos; [lra|apply norm_pos]].
      apply Rmult_le_reg_l with (size q); assumption. }
  exists (norm Y - val s). split; [apply Rabs_le; lra|lra].
Qed.

(* In terms of Boxes.v: the leg fits pose k with errors that depend on the exhibited numbers only, so that several legs
   that are exhibited with the same numbers share the errors of the pose. *)
Corollary witness_meaning poses more k p values exhibited :
  nth_error poses k = Some p -> proper p = true -> witness_fits p more values exhibited = true ->
  let (delta, omega) := exhibited_errors exhibited in
  fits (leg_meaning poses more) k (errors delta omega) (map val values).
Proof.
  intros K Pr W. assert (F := witness_fits_sound _ _ _ _ Pr W). destruct (exhibited_errors exhibited) as [d w].
  exists p, d, w. auto.
Qed.

(* An example: an upright leg of length 0.5 at reading 0.25, everything exact, fits. *)
Example upright_leg_fits :
  let k := Pose one zero zero zero (NVec zero zero half) nzero nzero (Num 1 (-2) 1) zero in
  leg_fits k zero (Leg (Vec 0 0 0) (Vec 0 0 0) (1 / 4)).
Proof.
  intros k. set (values := [zero; zero; zero; zero; zero; zero; Num 1 (-2) 1]).
  assert (F := witness_fits_sound k zero values [zero; zero; zero; zero; zero; zero]).
  destruct (exhibited_errors _) as [d w]. exists d, w.
  replace (Leg (Vec 0 0 0) (Vec 0 0 0) (1 / 4)) with (leg_of (map val values));
    [apply F; vm_compute; reflexivity|].
  unfold leg_of, values. cbn [map nth]. rewrite val_zero. f_equal. Transparent val. unfold val; simpl. field. Opaque val.
Qed.
