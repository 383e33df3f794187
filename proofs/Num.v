(* Exact numbers: mant · 2^expo / den, with the real number that each stands for.

   A double is such a number with den = 1, and then sums and products need no division and no greatest common divisor.
   Nothing is ever brought to lowest terms. Every other file uses these operations, and knows of them only what the
   lemmas below say: [val] of a result is the real result. *)
Require Import ZArith Reals Lra Lia Bool List.
Import ListNotations.
Local Open Scope Z_scope.

Record num := Num { mant : Z; expo : Z; den : positive }.

Definition val (x : num) : R := (IZR (mant x) * powerRZ 2 (expo x) / IZR (Zpos (den x)))%R.

(* Operations ------------------------------------------------------------------------------------------------------ *)

Definition of_Z (n : Z) : num := Num n 0 1.
Definition zero : num := of_Z 0.
Definition one : num := of_Z 1.
Definition half : num := Num 1 (-1) 1.

Definition neg (x : num) : num := Num (- mant x) (expo x) (den x).
Definition abs (x : num) : num := Num (Z.abs (mant x)) (expo x) (den x).

(* n · 2^d for d ≥ 0 *)
Definition up (n d : Z) : Z := Z.shiftl n d.

Definition add_mants (n e m f : Z) : Z * Z :=
  if e <? f then (n + up m (f - e), e) else (up n (e - f) + m, f).

Definition add (x y : num) : num :=
  if Pos.eqb (den x) (den y) then
    let '(n, e) := add_mants (mant x) (expo x) (mant y) (expo y) in Num n e (den x)
  else
    let '(n, e) := add_mants (mant x * Zpos (den y)) (expo x) (mant y * Zpos (den x)) (expo y) in
    Num n e (den x * den y).

Definition sub (x y : num) : num := add x (neg y).

Definition mul (x y : num) : num := Num (mant x * mant y) (expo x + expo y) (den x * den y).

Definition is_zero (x : num) : bool := mant x =? 0.
Definition is_neg (x : num) : bool := mant x <? 0.
Definition is_pos (x : num) : bool := 0 <? mant x.
Definition le (x y : num) : bool := mant (sub y x) >=? 0.
Definition lt (x y : num) : bool := mant (sub y x) >? 0.
Definition max (x y : num) : num := if lt x y then y else x.
Definition min (x y : num) : num := if lt y x then y else x.

Definition sum (xs : list num) : num := fold_left add xs zero.
Definition square (x : num) : num := mul x x.

(* A number whose square is at least x, and not much more; 0 for x ≤ 0. *)
Definition root_above (x : num) : num :=
  if mant x <=? 0 then zero
  else
    let n := mant x * Zpos (den x) in            (* √(n 2^e / d) = √(n d 2^e) / d *)
    let u := Z.max 0 (128 - (Z.log2 n + 1)) in
    let u := u + (expo x - u) mod 2 in
    Num (Z.sqrt (up n u) + 1) ((expo x - u) / 2) (den x).

(* About x / y for y > 0, to 50 binary digits after the point. Nothing is known of it but that it is a number. *)
Definition ratio (x y : num) : num :=
  let p := mant x * Zpos (den y) in
  let q := mant y * Zpos (den x) in
  let d := expo x - expo y + 50 in
  Num (if d >=? 0 then up p d / q else p / up q (- d)) (-50) 1.

(* x / y, for a y that is not 0 *)
Definition inv (x : num) : num :=
  match mant x with
  | Z0 => zero
  | Zpos p => Num (Zpos (den x)) (- expo x) p
  | Zneg p => Num (Zneg (den x)) (- expo x) p
  end.
Definition div (x y : num) : num := mul x (inv y).

(* The same number in lower terms, where its denominator is not 1. *)
Definition reduce (x : num) : num :=
  match den x with
  | 1%positive => x
  | d => let g := Z.gcd (mant x) (Zpos d) in Num (mant x / g) (expo x) (Z.to_pos (Zpos d / g))
  end.

(* x · d · 2^−e, which is a whole number if [is_whole] says so. *)
Definition whole (d : positive) (e : Z) (x : num) : Z := up (mant x * (Zpos d / Zpos (den x))) (expo x - e).
Definition is_whole (d : positive) (e : Z) (x : num) : bool :=
  (mant x =? 0) || ((e <=? expo x) && (Zpos d mod Zpos (den x) =? 0)).

(* The whole part of x · 2^k, rounded down. *)
Definition floor_scaled (k : Z) (x : num) : Z :=
  let d := expo x + k in
  if d >=? 0 then up (mant x) d / Zpos (den x) else mant x / up (Zpos (den x)) (- d).

(* About the binary logarithm of |x|; nothing is known of it. *)
Definition size (x : num) : Z := Z.log2 (Z.abs (mant x)) + expo x - Z.log2 (Zpos (den x)).

(* What they mean ---------------------------------------------------------------------------------------------------- *)

Lemma IZR_up n d : 0 <= d -> IZR (up n d) = (IZR n * powerRZ 2 d)%R.
Proof.
  intros H. unfold up. rewrite Z.shiftl_mul_pow2, mult_IZR by assumption. f_equal.
  rewrite <- (Z2Nat.id d H). rewrite <- pow_powerRZ, pow_IZR. f_equal.
Qed.

Lemma powerRZ_pos e : (0 < powerRZ 2 e)%R.
Proof. apply powerRZ_lt; lra. Qed.

Lemma powerRZ_sum e f : powerRZ 2 (e + f) = (powerRZ 2 e * powerRZ 2 f)%R.
Proof. apply powerRZ_add; lra. Qed.

Lemma den_pos x : (0 < IZR (Zpos (den x)))%R.
Proof. apply IZR_lt; lia. Qed.

Lemma add_mants_val n e m f : let '(k, g) := add_mants n e m f in
  (IZR k * powerRZ 2 g = IZR n * powerRZ 2 e + IZR m * powerRZ 2 f)%R.
Proof.
  unfold add_mants. destruct (Z.ltb_spec e f).
  - rewrite plus_IZR, IZR_up by lia. replace f with ((f - e) + e) at 2 by lia. rewrite powerRZ_sum. ring.
  - rewrite plus_IZR, IZR_up by lia. replace e with ((e - f) + f) at 2 by lia. rewrite powerRZ_sum. ring.
Qed.

Lemma val_of_Z n : val (of_Z n) = IZR n.
Proof. unfold val; simpl. field. Qed.

Lemma val_zero : val zero = 0%R.
Proof. apply val_of_Z. Qed.

Lemma val_one : val one = 1%R.
Proof. apply val_of_Z. Qed.

Lemma val_half : val half = (1 / 2)%R.
Proof. unfold val, half; simpl. field. Qed.

Lemma val_neg x : val (neg x) = (- val x)%R.
Proof. unfold val, neg; simpl. rewrite opp_IZR. field. apply Rgt_not_eq, den_pos. Qed.

Lemma val_add x y : val (add x y) = (val x + val y)%R.
Proof.
  assert (P := den_pos x); assert (Q := den_pos y).
  unfold add, val. destruct (Pos.eqb_spec (den x) (den y)) as [E|E].
  - assert (K := add_mants_val (mant x) (expo x) (mant y) (expo y)).
    destruct (add_mants _ _ _ _) as [k g]; simpl. rewrite K, E. field. lra.
  - assert (K := add_mants_val (mant x * Zpos (den y)) (expo x) (mant y * Zpos (den x)) (expo y)).
    destruct (add_mants _ _ _ _) as [k g]; simpl. rewrite K, Pos2Z.inj_mul, !mult_IZR. field. lra.
Qed.

Lemma val_sub x y : val (sub x y) = (val x - val y)%R.
Proof. unfold sub. rewrite val_add, val_neg. ring. Qed.

Lemma val_mul x y : val (mul x y) = (val x * val y)%R.
Proof.
  assert (P := den_pos x); assert (Q := den_pos y).
  unfold mul, val; simpl. rewrite Pos2Z.inj_mul, !mult_IZR, powerRZ_sum. field. lra.
Qed.

Lemma val_square x : val (square x) = (val x * val x)%R.
Proof. apply val_mul. Qed.

Lemma val_sign x : (IZR (mant x) = val x * (IZR (Zpos (den x)) / powerRZ 2 (expo x)))%R /\
  (0 < IZR (Zpos (den x)) / powerRZ 2 (expo x))%R.
Proof.
  assert (P := den_pos x); assert (Q := powerRZ_pos (expo x)). split.
  - unfold val. field. lra.
  - apply Rdiv_lt_0_compat; lra.
Qed.

Lemma mant_nonneg x : 0 <= mant x <-> (0 <= val x)%R.
Proof.
  destruct (val_sign x) as [E P]. split; intros H.
  - apply IZR_le in H. rewrite E in H. destruct (Rlt_le_dec (val x) 0); [|assumption].
    assert (val x * (IZR (Zpos (den x)) / powerRZ 2 (expo x)) < 0)%R by (set (f := (_ / _)%R) in *; nra). lra.
  - apply le_IZR. rewrite E. apply Rmult_le_pos; lra.
Qed.

Lemma mant_pos x : 0 < mant x <-> (0 < val x)%R.
Proof.
  destruct (val_sign x) as [E P]. split; intros H.
  - apply IZR_lt in H. rewrite E in H. destruct (Rle_lt_dec (val x) 0); [|assumption].
    assert (val x * (IZR (Zpos (den x)) / powerRZ 2 (expo x)) <= 0 * (IZR (Zpos (den x)) / powerRZ 2 (expo x)))%R
      by (apply Rmult_le_compat_r; lra). lra.
  - apply lt_IZR. rewrite E. apply Rmult_lt_0_compat; lra.
Qed.

Lemma le_spec x y : le x y = true <-> (val x <= val y)%R.
Proof.
  unfold le. rewrite Z.geb_leb, Z.leb_le, mant_nonneg, val_sub. lra.
Qed.

Lemma le_false x y : le x y = false <-> (val y < val x)%R.
Proof.
  destruct (le x y) eqn:E; split; intros H; try discriminate; auto.
  - apply le_spec in E; lra.
  - destruct (Rlt_le_dec (val y) (val x)) as [K|K]; [assumption|]. apply le_spec in K; congruence.
Qed.

Lemma lt_spec x y : lt x y = true <-> (val x < val y)%R.
Proof. unfold lt. rewrite Z.gtb_ltb, Z.ltb_lt, mant_pos, val_sub. lra. Qed.

Lemma lt_false x y : lt x y = false <-> (val y <= val x)%R.
Proof.
  destruct (lt x y) eqn:E; split; intros H; try discriminate; auto.
  - apply lt_spec in E; lra.
  - destruct (Rle_lt_dec (val y) (val x)) as [K|K]; [assumption|]. apply lt_spec in K; congruence.
Qed.

Lemma is_zero_spec x : is_zero x = true <-> val x = 0%R.
Proof.
  unfold is_zero. rewrite Z.eqb_eq. destruct (val_sign x) as [E P]. split; intros H.
  - rewrite H in E. symmetry in E. apply Rmult_integral in E. destruct E; [assumption|lra].
  - apply eq_IZR. rewrite E, H. ring.
Qed.

Lemma is_neg_spec x : is_neg x = true <-> (val x < 0)%R.
Proof.
  unfold is_neg. rewrite Z.ltb_lt. assert (K := mant_nonneg x). split; intros H.
  - destruct (Rlt_le_dec (val x) 0) as [L|L]; [assumption|]. apply K in L; lia.
  - destruct (Z.lt_ge_cases (mant x) 0) as [L|L]; [assumption|]. apply K in L; lra.
Qed.

Lemma is_neg_false x : is_neg x = false <-> (0 <= val x)%R.
Proof. unfold is_neg. rewrite Z.ltb_ge. apply mant_nonneg. Qed.

Lemma is_pos_spec x : is_pos x = true <-> (0 < val x)%R.
Proof. unfold is_pos. rewrite Z.ltb_lt. apply mant_pos. Qed.

Lemma val_abs x : val (abs x) = Rabs (val x).
Proof.
  unfold abs. destruct (Z.le_ge_cases 0 (mant x)) as [H|H].
  - rewrite Z.abs_eq by assumption. replace (Num (mant x) (expo x) (den x)) with x by (destruct x; reflexivity).
    apply mant_nonneg in H. rewrite Rabs_pos_eq; auto.
  - rewrite Z.abs_neq by assumption. change (val (neg x) = Rabs (val x)). rewrite val_neg.
    assert (val x <= 0)%R; [|rewrite Rabs_left1; auto].
    assert (K : 0 <= mant (neg x)) by (simpl; lia). apply mant_nonneg in K. rewrite val_neg in K. lra.
Qed.

Lemma val_max x y : val (max x y) = Rmax (val x) (val y).
Proof.
  unfold max. destruct (lt x y) eqn:E.
  - apply lt_spec in E. rewrite Rmax_right; lra.
  - apply lt_false in E. rewrite Rmax_left; lra.
Qed.

Lemma val_min x y : val (min x y) = Rmin (val x) (val y).
Proof.
  unfold min. destruct (lt y x) eqn:E.
  - apply lt_spec in E. rewrite Rmin_right; lra.
  - apply lt_false in E. rewrite Rmin_left; lra.
Qed.

Lemma val_fold_add xs : forall x, val (fold_left add xs x) = (val x + fold_right Rplus 0 (map val xs))%R.
Proof. induction xs as [|y xs IH]; intros x; simpl; [ring|]. rewrite IH, val_add. ring. Qed.

Lemma val_sum xs : val (sum xs) = fold_right Rplus 0%R (map val xs).
Proof. unfold sum. rewrite val_fold_add, val_zero. ring. Qed.

Lemma val_inv x : val x <> 0%R -> val (inv x) = (/ val x)%R.
Proof.
  intros H. destruct x as [[|p|p] e d]; unfold val, inv in *; simpl in *.
  - exfalso; apply H; field. apply Rgt_not_eq, IZR_lt; lia.
  - rewrite powerRZ_neg'. field. repeat split; apply Rgt_not_eq; (apply powerRZ_pos || (apply IZR_lt; lia)).
  - rewrite powerRZ_neg'. change (IZR (Z.neg d)) with (- IZR (Z.pos d))%R.
    change (IZR (Z.neg p)) with (- IZR (Z.pos p))%R. field. repeat split; apply Rgt_not_eq; (apply powerRZ_pos || (apply IZR_lt; lia)).
Qed.

Lemma val_div x y : val y <> 0%R -> val (div x y) = (val x / val y)%R.
Proof. intros H. unfold div. rewrite val_mul, val_inv; auto. Qed.

Lemma val_reduce x : val (reduce x) = val x.
Proof.
  destruct x as [n e d]. unfold reduce; cbn [mant expo den].
  assert (K : val (Num (n / Z.gcd n (Zpos d)) e (Z.to_pos (Zpos d / Z.gcd n (Zpos d)))) = val (Num n e d)).
  { set (g := Z.gcd n (Zpos d)).
    assert (G : 0 < g).
    { assert (0 <= g) by apply Z.gcd_nonneg. assert (g <> 0); [|lia]. intros E. apply Z.gcd_eq_0_r in E. lia. }
    destruct (Z.gcd_divide_l n (Zpos d)) as [a A]. destruct (Z.gcd_divide_r n (Zpos d)) as [b B]. fold g in A, B.
    assert (0 < b) by nia.
    unfold val; cbn [mant expo den]. rewrite A at 1. rewrite B at 1. rewrite !Z.div_mul, Z2Pos.id by lia.
    rewrite A, B, !mult_IZR. assert (0 < IZR g)%R by (apply IZR_lt; assumption).
    assert (0 < IZR b)%R by (apply IZR_lt; assumption). field. lra. }
  destruct d; [exact K|exact K|reflexivity].
Qed.

Lemma whole_spec d e x : is_whole d e x = true ->
  IZR (whole d e x) = (IZR (Zpos d) * powerRZ 2 (- e) * val x)%R.
Proof.
  unfold is_whole, whole. intros H. apply orb_true_iff in H. destruct H as [H|H].
  - apply Z.eqb_eq in H. unfold val. rewrite H. unfold up. rewrite Z.mul_0_l, Z.shiftl_0_l. unfold Rdiv. ring.
  - apply andb_true_iff in H. destruct H as [E D]. apply Z.leb_le in E. apply Z.eqb_eq in D.
    rewrite IZR_up, mult_IZR by lia. assert (P := den_pos x).
    assert (Q : IZR (Zpos d) = (IZR (Zpos (den x)) * IZR (Zpos d / Zpos (den x)))%R).
    { rewrite <- mult_IZR. f_equal. assert (M := Z.div_mod (Zpos d) (Zpos (den x))). lia. }
    rewrite Q. unfold val. replace (expo x - e) with (- e + expo x) by lia. rewrite powerRZ_sum. field. lra.
Qed.

Lemma floor_bounds n d : 0 < d -> (IZR (n / d) <= IZR n / IZR d <= IZR (n / d) + 1)%R.
Proof.
  intros D. assert (P : (0 < IZR d)%R) by (apply IZR_lt; assumption).
  assert (L := Z.mul_div_le n d D). assert (U := Z.mul_succ_div_gt n d D).
  apply IZR_le in L. apply IZR_lt in U. rewrite mult_IZR in L, U. rewrite succ_IZR in U.
  split; apply Rmult_le_reg_l with (IZR d); auto; replace (IZR d * (IZR n / IZR d))%R with (IZR n) by (field; lra); lra.
Qed.

Lemma floor_scaled_spec k x : (IZR (floor_scaled k x) <= powerRZ 2 k * val x <= IZR (floor_scaled k x) + 1)%R.
Proof.
  unfold floor_scaled. assert (P := den_pos x). assert (Q := powerRZ_pos (expo x + k)). rewrite Z.geb_leb.
  destruct (Z.leb_spec 0 (expo x + k)) as [H|H].
  - assert (B := floor_bounds (up (mant x) (expo x + k)) (Zpos (den x)) ltac:(lia)). rewrite IZR_up in B by assumption.
    replace (powerRZ 2 k * val x)%R with (IZR (mant x) * powerRZ 2 (expo x + k) / IZR (Zpos (den x)))%R; [exact B|].
    unfold val. rewrite powerRZ_sum. field. lra.
  - assert (T : 0 < up (Zpos (den x)) (- (expo x + k))).
    { unfold up. rewrite Z.shiftl_mul_pow2 by lia. apply Z.mul_pos_pos; [lia|]. apply Z.pow_pos_nonneg; lia. }
    assert (B := floor_bounds (mant x) _ T). rewrite IZR_up in B by lia.
    replace (powerRZ 2 k * val x)%R with (IZR (mant x) / (IZR (Zpos (den x)) * powerRZ 2 (- (expo x + k))))%R; [exact B|].
    unfold val. rewrite powerRZ_neg', powerRZ_sum. assert (X := powerRZ_pos (expo x)). assert (Y := powerRZ_pos k).
    field. repeat split; lra.
Qed.

Lemma root_above_nonneg x : (0 <= val (root_above x))%R.
Proof.
  unfold root_above. destruct (mant x <=? 0) eqn:E; [rewrite val_zero; lra|].
  cbv zeta. apply mant_nonneg. cbn [mant]. match goal with |- 0 <= Z.sqrt ?a + 1 => assert (K := Z.sqrt_nonneg a) end. lia.
Qed.

Lemma root_above_spec x : (val x <= val (root_above x) * val (root_above x))%R.
Proof.
  destruct (Z.leb_spec (mant x) 0) as [H|H].
  - assert (val x <= 0)%R.
    { destruct (Rle_lt_dec (val x) 0) as [K|K]; [assumption|]. apply mant_pos in K; lia. }
    assert (K := root_above_nonneg x). assert (L := Rmult_le_pos _ _ K K). lra.
  - unfold root_above. destruct (Z.leb_spec (mant x) 0) as [K|_]; [lia|].
    set (n := mant x * Zpos (den x)). set (u0 := Z.max 0 (128 - (Z.log2 n + 1))).
    set (u := u0 + (expo x - u0) mod 2).
    assert (U : 0 <= u) by (unfold u, u0; assert (M := Z.mod_pos_bound (expo x - Z.max 0 (128 - (Z.log2 n + 1))) 2);
      lia).
    assert (E : expo x - u = 2 * ((expo x - u) / 2)).
    { assert (M := Z.div_mod (expo x - u) 2). assert (Z : (expo x - u) mod 2 = 0); [|lia].
      unfold u. rewrite Z.sub_add_distr, Zminus_mod_idemp_r. rewrite Z.sub_diag. reflexivity. }
    set (g := (expo x - u) / 2) in *. set (s := Z.sqrt (up n u)).
    assert (N : 0 <= up n u) by (unfold up; apply Z.shiftl_nonneg; unfold n; lia).
    assert (S : (IZR (up n u) <= IZR ((s + 1) * (s + 1)))%R).
    { apply IZR_le. unfold s. assert (M := Z.sqrt_spec (up n u) N). cbv zeta in M. rewrite Z.add_1_r. apply Z.lt_le_incl, M. }
    rewrite IZR_up, mult_IZR in S by assumption.
    unfold val at 2 3. simpl mant; simpl expo; simpl den.
    assert (P := den_pos x).
    replace (val x) with (IZR n * powerRZ 2 u * (powerRZ 2 g * powerRZ 2 g / (IZR (Zpos (den x)) * IZR (Zpos (den x)))))%R.
    + assert (Q := powerRZ_pos g).
      assert (0 < powerRZ 2 g * powerRZ 2 g / (IZR (Zpos (den x)) * IZR (Zpos (den x))))%R
        by (apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; assumption).
      eapply Rle_trans; [apply Rmult_le_compat_r; [lra|apply S]|]. right. field. lra.
    + unfold val, n. rewrite mult_IZR. replace (expo x) with (u + (g + g)) by lia. rewrite !powerRZ_sum. field. lra.
Qed.
Global Opaque val add sub mul neg abs le lt max min sum square root_above ratio inv div reduce whole is_whole
  floor_scaled size is_zero is_neg is_pos of_Z.
