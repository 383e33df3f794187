(* Certificates about ellipsoids: every consistent x of a linear problem lies in an ellipsoid, by weighted strips.

   What runs is [check_inside]; [inside_sound], at the end, says what it is worth. *)
Require Import ZArith Reals Lra Lia Psatz List Bool Arith.
Require Import Gough.Num Gough.Rows Gough.Linear.
Import ListNotations.
Local Open Scope R_scope.

(* Quadratic forms -------------------------------------------------------------------------------------------------- *)

(* A symmetric matrix is given by its upper triangle: the first row, the second from the diagonal on, and so on.
   Entries that are missing count as 0. *)
Definition triangle (A : Type) := list (list A).

Fixpoint dot (a x : list R) : R :=
  match a, x with c :: a', z :: x' => c * z + dot a' x' | _, _ => 0 end.

(* xᵀ M x *)
Fixpoint quad (M : triangle R) (x : list R) : R :=
  match M, x with
  | row :: M', z :: x' => z * (hd 0 row * z + 2 * dot (tl row) x') + quad M' x'
  | _, _ => 0
  end.

Definition reals (M : triangle num) : triangle R := map (map val) M.

Fixpoint minus (x : list R) (c : list num) : list R :=
  match x, c with z :: x', v :: c' => (z - val v) :: minus x' c' | _, _ => [] end.

(* The specification ------------------------------------------------------------------------------------------------ *)

(* An ellipsoid, in the order of the problem's unknowns. *)
Record body := Body { center : list num; shape : triangle num }.

(* In every direction u, x is away from the center by at most √(uᵀ shape u). For a definite shape this says
   (x − center)ᵀ shape⁻¹ (x − center) ≤ 1, and it keeps its meaning where the ellipsoid is flat. *)
Definition in_ellipsoid (b : body) (x : list R) : Prop :=
  length x = length (center b) /\
  forall u, length u = length (center b) ->
    dot u (minus x (center b)) * dot u (minus x (center b)) <= quad (reals (shape b)) u.

(* M x, of the upper triangle of a symmetric M *)
Fixpoint plus (a b : list R) : list R :=
  match a, b with [], _ => b | _, [] => a | c :: a', z :: b' => c + z :: plus a' b' end.

Fixpoint times (M : triangle R) (x : list R) : list R :=
  match M, x with
  | row :: M', z :: x' => hd 0 row * z + dot (tl row) x' :: plus (map (Rmult z) (tl row)) (times M' x')
  | _, _ => []
  end.

(* Certificates ----------------------------------------------------------------------------------------------------- *)

(* d · x of a strip: the regressor of a row, or one unknown. *)
Inductive along := Row_of (k : nat) | Axis (j : nat).

(* What proves one side of a strip: the row itself (for an unknown, the box), weights on rows, or the ellipsoid of an
   earlier round, counted from 0. *)
Inductive source := Itself | Weights (ws : weights) | Round_before (n : nat).

(* |middle − d · x| ≤ half_width, with its weight. *)
Record strip := Strip {
  of : along; mid : num; half_width : num; weight : num; below : source; above : source }.

(* The center by numbers of the unknowns, each once; the lower triangle of the shape goes by the same order. *)
Record round := Round { center_of : list (nat * num); lower_shape : list (list num); strips : list strip }.

(* What runs: semidefinite matrices --------------------------------------------------------------------------------- *)

(* One step of elimination: f (a N_ij − v_i v_j) in place of N_ij; g is used on the diagonal. *)
Fixpoint eliminate_row (f : Z -> Z) (a vi : Z) (row v : list Z) : list Z :=
  match v with
  | [] => []
  | vj :: v' => f (a * hd 0 row - vi * vj)%Z :: eliminate_row f a vi (tl row) v'
  end.

Fixpoint eliminate (f g : Z -> Z) (a : Z) (v : list Z) (N : triangle Z) : triangle Z :=
  match v with
  | [] => []
  | vi :: v' =>
      (g (a * hd 0 (hd [] N) - vi * vi)%Z :: eliminate_row f a vi (tl (hd [] N)) v') :: eliminate f g a v' (tl N)
  end.

(* Elimination with rounding. Instead of N − v vᵀ / a, whole parts are taken. What is cut off, a matrix with entries from
   0 to 1, is made up for by n on the diagonal, because n·1 plus that matrix is diagonally dominant. *)
Fixpoint rounded_elimination (n : nat) (M : triangle Z) : bool :=
  match n, M with
  | O, _ => true
  | S n', (a :: v) :: N =>
      Nat.eqb (length v) n' && Z.ltb 0 a &&
      rounded_elimination n' (eliminate (fun z => z / a)%Z (fun z => z / a - Z.of_nat n')%Z a v N)
  | _, _ => false
  end.

(* M_ij · 2^(e_i + e_j), rounded down, with n taken from the diagonal. *)
Definition short_row (e : Z) (es : list Z) (row : list num) : list Z :=
  map (fun p => floor_scaled (e + fst p) (snd p)) (List.combine es row).

Fixpoint short (n : Z) (es : list Z) (M : triangle num) : triangle Z :=
  match es, M with
  | e :: es', row :: M' =>
      ((floor_scaled (e + e) (hd zero row) - n)%Z :: short_row e es' (tl row)) :: short n es' M'
  | _, _ => []
  end.

(* With numbers of about 256 bits; this decides all matrices but those at the edge. *)
Definition short_semidefinite (M : triangle num) : bool :=
  rounded_elimination (length M)
    (short (Z.of_nat (length M)) (map (fun row => 128 - Z.div2 (size (hd zero row)))%Z M) M).

Definition divides (d : Z) (M : triangle Z) : bool := forallb (forallb (fun z => Z.eqb (z mod d) 0)) M.

(* Elimination without rounding. The pivot before divides all entries [BAR68]; this is made sure of, not relied on. A
   pivot of 0 is passed over if its row is 0. *)
Fixpoint exact_elimination (n : nat) (previous : Z) (M : triangle Z) : bool :=
  match n, M with
  | O, _ => true
  | S n', (a :: v) :: N =>
      Nat.eqb (length v) n' &&
      (if Z.ltb 0 a then
         let X := eliminate (fun z => z) (fun z => z) a v N in
         if Z.ltb 0 previous && divides previous X then exact_elimination n' a (map (map (fun z => z / previous)%Z) X)
         else exact_elimination n' 1 X
       else Z.eqb a 0 && forallb (Z.eqb 0) v && exact_elimination n' previous N)
  | _, _ => false
  end.

Definition common_den (M : triangle num) : positive :=
  fold_left (fun d row => fold_left (fun d x => Z.to_pos (Z.lcm (Zpos d) (Zpos (den x)))) row d) M 1%positive.

Definition least_expo (M : triangle num) : Z :=
  fold_left (fun e row => fold_left (fun e x => if Z.eqb (mant x) 0 then e else Z.min e (expo x)) row e) M 0%Z.

Definition exactly_semidefinite (M : triangle num) : bool :=
  let d := common_den M in let e := least_expo M in
  forallb (forallb (is_whole d e)) M && exact_elimination (length M) 1 (map (map (whole d e)) M).

(* xᵀ M x ≥ 0 for all x *)
Definition semidefinite (M : triangle num) : bool := short_semidefinite M || exactly_semidefinite M.

(* What runs: ellipsoids -------------------------------------------------------------------------------------------- *)

(* The place of an unknown in the order of a round, and its value. *)
Fixpoint place_of (axis place : nat) (given : list (nat * num)) : option (nat * num) :=
  match given with
  | [] => None
  | (j, v) :: rest => if Nat.eqb j axis then Some (place, v) else place_of axis (S place) rest
  end.

Fixpoint places (axes : list nat) (given : list (nat * num)) : option (list (nat * num)) :=
  match axes with
  | [] => Some []
  | axis :: rest =>
      match place_of axis 0 given, places rest given with Some p, Some ps => Some (p :: ps) | _, _ => None end
  end.

(* The entry of a symmetric matrix, of its lower triangle *)
Definition entry (lower : list (list num)) (i j : nat) : num := nth (Nat.min i j) (nth (Nat.max i j) lower []) zero.

Fixpoint upper_of (lower : list (list num)) (order : list nat) : triangle num :=
  match order with [] => [] | i :: rest => map (entry lower i) order :: upper_of lower rest end.

Fixpoint is_lower (n : nat) (lower : list (list num)) : bool :=
  match lower with [] => true | row :: rest => Nat.eqb (length row) (S n) && is_lower (S n) rest end.

(* The ellipsoid that a round states, in the order of the unknowns *)
Definition body_of (P : problem) (r : round) : option body :=
  if Nat.eqb (length (center_of r)) (width P) && Nat.eqb (length (lower_shape r)) (width P) && is_lower 0 (lower_shape r)
  then match places (seq 0 (width P)) (center_of r) with
       | Some ps => Some (Body (map snd ps) (upper_of (lower_shape r) (map fst ps)))
       | None => None
       end
  else None.

(* dᵀ M d *)
Fixpoint nquad (M : triangle num) (d : list num) : num :=
  match M, d with
  | row :: M', z :: d' =>
      let rest := ndot (tl row) d' in
      add (mul z (add (mul (hd zero row) z) (add rest rest))) (nquad M' d')
  | _, _ => zero
  end.

Definition direction_of (P : problem) (o : along) : option (list num) :=
  match o with
  | Row_of k => match get P k with Some r => Some (regressor r) | None => None end
  | Axis j => if Nat.ltb j (width P) then Some (unit_from 0 (width P) j) else None
  end.

Definition signed (up : bool) (x : num) : num := if up then x else neg x.

(* ± d · x ≥ ± middle − half_width: the lower side (up) or the upper side of a strip *)
Definition side_holds (P : problem) (box : list side) (earlier : list body) (s : strip) (d : list num) (up : bool)
    (src : source) : bool :=
  let wanted := sub (signed up (mid s)) (half_width s) in
  let by_weights ws := match largest_value P box (map (signed up) d) ws with Some m => le wanted m | None => false end in
  match src with
  | Itself => by_weights (match of s with Row_of k => [(k, signed up one)] | Axis _ => [] end)
  | Weights ws => by_weights ws
  | Round_before n =>
      match nth_error earlier n with
      | Some b =>
          let room := sub (signed up (ndot d (center b))) wanted in
          Nat.eqb (length d) (length (center b)) && negb (is_neg room) && le (nquad (shape b) d) (square room)
      | None => false
      end
  end.

(* The direction of a strip that holds *)
Definition strip_holds (P : problem) (box : list side) (earlier : list body) (s : strip) : option (list num) :=
  match direction_of P (of s) with
  | Some d =>
      if negb (is_neg (weight s)) && negb (is_neg (half_width s)) && side_holds P box earlier s d true (below s) &&
         side_holds P box earlier s d false (above s)
      then Some d else None
  | None => None
  end.

(* Axes along which the ellipsoid is not flat *)
Definition free_axes (M : triangle num) : list bool := map (fun row => negb (is_zero (hd zero row))) M.

Fixpoint pick {A : Type} (free : list bool) (l : list A) : list A :=
  match free, l with
  | f :: free', z :: l' => if f then z :: pick free' l' else pick free' l'
  | _, _ => l
  end.

Fixpoint pick_triangle (free : list bool) (M : triangle num) : triangle num :=
  match free, M with
  | f :: free', row :: M' =>
      if f then (hd zero row :: pick free' (tl row)) :: pick_triangle free' M' else pick_triangle free' M'
  | _, _ => M
  end.

(* Entries along flat axes are 0. *)
Fixpoint zero_where_flat (free : list bool) (v : list num) : bool :=
  match free, v with f :: free', c :: v' => (f || is_zero c) && zero_where_flat free' v' | _, _ => true end.

Fixpoint flat_rows (free : list bool) (M : triangle num) : bool :=
  match free, M with
  | f :: free', row :: M' =>
      (if f then zero_where_flat free' (tl row) else forallb is_zero row) && flat_rows free' M'
  | _, _ => true
  end.

(* Along flat axes, the box has no other point than the center. *)
Definition fixed (s : side) (c : num) : bool :=
  match s with (Some low, Some high) => le c low && le high c | _ => false end.

Fixpoint flat_axes_fixed (free : list bool) (box : list side) (c : list num) : bool :=
  match free, box, c with
  | [], [], [] => true
  | f :: free', s :: box', v :: c' => (f || fixed s v) && flat_axes_fixed free' box' c'
  | _, _, _ => false
  end.

(* Σ weight (half_width² − (middle − d · x)²) = rest + 2 b · z − zᵀ A z with z = x − center, along the free axes *)
Record form := Form { quadratic : triangle num; linear : list num; rest : num }.

(* A + w d dᵀ *)
Fixpoint rank_one (w : num) (d : list num) (A : triangle num) : triangle num :=
  match d with
  | [] => A
  | c :: d' => axpy (mul w c) d (hd [] A) :: rank_one w d' (tl A)
  end.

Definition with_strip (c : list num) (free : list bool) (f : form) (s : strip) (d : list num) : form :=
  let w := weight s in
  let m := sub (mid s) (ndot d c) in
  let df := pick free d in
  Form (rank_one w df (quadratic f)) (axpy (mul w m) df (linear f))
    (add (rest f) (mul w (sub (square (half_width s)) (square m)))).

Fixpoint with_strips (P : problem) (box : list side) (earlier : list body) (c : list num) (free : list bool) (f : form)
    (ss : list strip) : option form :=
  match ss with
  | [] => Some f
  | s :: more =>
      match strip_holds P box earlier s with
      | Some d => with_strips P box earlier c free (with_strip c free f s d) more
      | None => None
      end
  end.

(* Rows of M with a row of B appended to each, then N *)
Fixpoint beside (M : triangle num) (B : list (list num)) (N : triangle num) : triangle num :=
  match M, B with row :: M', b :: B' => (row ++ b) :: beside M' B' N | _, _ => N end.

Fixpoint is_triangle (n : nat) (M : triangle num) : bool :=
  match n, M with
  | O, [] => true
  | S n', row :: M' => Nat.eqb (length row) n && is_triangle n' M'
  | _, _ => false
  end.

(* [P, 1, 0; 1, A, −b; 0, −bᵀ, 1 − rest] *)
Definition gap (n : nat) (P : triangle num) (f : form) : triangle num :=
  beside P (map (fun i => unit_from 0 n i ++ [zero]) (seq 0 n))
    (beside (quadratic f) (map (fun c => [neg c]) (linear f)) [[sub one (rest f)]]).

(* The ellipsoid of a round, if its strips prove that it has every consistent x. *)
Definition round_holds (P : problem) (box : list side) (earlier : list body) (r : round) : option body :=
  match body_of P r with
  | Some b =>
      let free := free_axes (shape b) in
      let Pf := pick_triangle free (shape b) in
      let n := length Pf in
      if flat_rows free (shape b) && flat_axes_fixed free box (center b) && is_triangle n Pf then
        match with_strips P box earlier (center b) free (Form [] [] zero) (strips r) with
        | Some f =>
            if is_triangle n (quadratic f) && Nat.eqb (length (linear f)) n && semidefinite (gap n Pf f) then Some b
            else None
        | None => None
        end
      else None
  | None => None
  end.

Fixpoint rounds_hold (P : problem) (box : list side) (earlier : list body) (rs : list round) : option (list body) :=
  match rs with
  | [] => Some earlier
  | r :: more =>
      match round_holds P box earlier r with
      | Some b => rounds_hold P box (earlier ++ [b]) more
      | None => None
      end
  end.

(* Every consistent x is in the box and in each of the ellipsoids, one per round, that this returns. *)
Definition check_inside (P : problem) (steps : list link) (rs : list round) : option (known * list body) :=
  match rs with
  | [] => None
  | _ =>
      match follow P (of_prior P) steps with
      | Some b => match rounds_hold P (sides b) [] rs with Some bodies => Some (b, bodies) | None => None end
      | None => None
      end
  end.

(* Why it is true: semidefinite matrices ---------------------------------------------------------------------------- *)

Fixpoint norm2 (x : list R) : R := match x with [] => 0 | z :: x' => z * z + norm2 x' end.

Definition whole_row : list Z -> list R := map IZR.
Definition wholes : triangle Z -> triangle R := map whole_row.

Lemma norm2_nonneg x : 0 <= norm2 x.
Proof. induction x as [|z x IH]; simpl; [lra|]. assert (0 <= z * z) by apply Rle_0_sqr. lra. Qed.

Lemma dot_nil_r a : dot a [] = 0.
Proof. destruct a; reflexivity. Qed.

Lemma quad_nil_r M : quad M [] = 0.
Proof. destruct M; reflexivity. Qed.

Lemma rdot_dot a : forall x, rdot a x = dot (map val a) x.
Proof. induction a as [|c a IH]; intros [|z x]; simpl; auto. rewrite IH. reflexivity. Qed.

Lemma hd_map_val row : hd 0 (map val row) = val (hd zero row).
Proof. destruct row; simpl; [rewrite val_zero|]; reflexivity. Qed.

Lemma tl_map_val row : tl (map val row) = map val (tl row).
Proof. destruct row; reflexivity. Qed.

Lemma hd_whole row : hd 0 (whole_row row) = IZR (hd 0%Z row).
Proof. destruct row; reflexivity. Qed.

Lemma tl_whole row : tl (whole_row row) = whole_row (tl row).
Proof. destruct row; reflexivity. Qed.

Lemma quad_hd N z x : quad (wholes N) (z :: x) =
  z * (IZR (hd 0%Z (hd [] N)) * z + 2 * dot (whole_row (tl (hd [] N))) x) + quad (wholes (tl N)) x.
Proof.
  destruct N as [|row N]; simpl; [ring|]. rewrite hd_whole, tl_whole. reflexivity.
Qed.

Lemma dot_eliminate_row a vi v : forall row x, length x = length v ->
  dot (whole_row (eliminate_row (fun z => z) a vi row v)) x = IZR a * dot (whole_row row) x - IZR vi * dot (whole_row v) x.
Proof.
  induction v as [|vj v IH]; intros row [|z x] L; simpl in *; try discriminate.
  - rewrite dot_nil_r. ring.
  - rewrite IH by congruence. rewrite minus_IZR, !mult_IZR. destruct row as [|c row]; simpl; ring.
Qed.

Lemma quad_eliminate a v : forall N x, length x = length v ->
  quad (wholes (eliminate (fun z => z) (fun z => z) a v N)) x =
  IZR a * quad (wholes N) x - dot (whole_row v) x * dot (whole_row v) x.
Proof.
  induction v as [|vi v IH]; intros N [|z x] L; cbn [length] in L; try discriminate.
  - rewrite !quad_nil_r, dot_nil_r. ring.
  - rewrite !quad_hd. cbn [eliminate hd tl].
    rewrite IH, dot_eliminate_row by congruence. cbn [whole_row map dot]. fold (whole_row v).
    rewrite minus_IZR, !mult_IZR. ring.
Qed.

(* Rounding: with c ≥ 0 and 0 ≤ z − c f(z) ≤ c for all entries z, taking f(z) for z loses no more than n c |x|². *)
Lemma cross_term r z t : 0 <= r <= 1 -> - (z * z + t * t) <= 2 * (r * (z * t)).
Proof.
  intros H. assert (0 <= (z + t) * (z + t)) by apply Rle_0_sqr. assert (0 <= z * z) by apply Rle_0_sqr.
  assert (0 <= t * t) by apply Rle_0_sqr. assert (0 <= r * ((z + t) * (z + t))) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 - r) * (z * z + t * t)) by (apply Rmult_le_pos; lra). lra.
Qed.

Section Rounding.
  Variable a : Z.
  Variable f : Z -> Z.
  Hypothesis a_pos : (0 < a)%Z.
  Hypothesis f_close : forall z, IZR a * IZR (f z) <= IZR z <= IZR a * IZR (f z) + IZR a.

  Lemma a_positive : 0 < IZR a.
  Proof. apply IZR_lt. assumption. Qed.

  Lemma part z : exists r, 0 <= r <= 1 /\ IZR z = IZR a * (IZR (f z) + r).
  Proof.
    assert (P := a_positive). exists ((IZR z - IZR a * IZR (f z)) / IZR a). assert (H := f_close z). split; [|field; lra].
    split; apply Rmult_le_reg_l with (IZR a); auto;
      replace (IZR a * ((IZR z - IZR a * IZR (f z)) / IZR a)) with (IZR z - IZR a * IZR (f z)) by (field; lra); lra.
  Qed.

  Lemma round_row vi z v : forall row x, length x = length v ->
    2 * (z * dot (whole_row (eliminate_row (fun z => z) a vi row v)) x) >=
    IZR a * (2 * (z * dot (whole_row (eliminate_row f a vi row v)) x) - INR (length x) * (z * z) - norm2 x).
  Proof.
    induction v as [|vj v IH]; intros row [|t x] L; cbn [length] in L; try discriminate.
    - simpl. lra.
    - cbn [eliminate_row whole_row map dot norm2 length]. rewrite S_INR.
      assert (K := IH (tl row) x ltac:(congruence)).
      fold (whole_row (eliminate_row (fun z => z) a vi (tl row) v)) in *.
      fold (whole_row (eliminate_row f a vi (tl row) v)) in *.
      destruct (part (a * hd 0 row - vi * vj)%Z) as [r [B E]]. rewrite E.
      assert (C := cross_term r z t B). assert (P := a_positive).
      assert (M : IZR a * (- (z * z + t * t)) <= IZR a * (2 * (r * (z * t)))) by (apply Rmult_le_compat_l; lra).
      lra.
  Qed.

  Lemma round_all k v : forall N x, length x = length v ->
    quad (wholes (eliminate (fun z => z) (fun z => z) a v N)) x >=
    IZR a * (quad (wholes (eliminate f (fun z => f z - k)%Z a v N)) x + (IZR k - INR (length x)) * norm2 x).
  Proof.
    assert (P := a_positive).
    induction v as [|vi v IH]; intros N [|z x] L; cbn [length] in L; try discriminate.
    - rewrite !quad_nil_r. simpl. lra.
    - rewrite !quad_hd. cbn [eliminate hd tl norm2 length]. rewrite S_INR.
      assert (K := IH (tl N) x ltac:(congruence)).
      assert (R := round_row vi z v (tl (hd [] N)) x ltac:(congruence)).
      destruct (part (a * hd 0 (hd [] N) - vi * vi)%Z) as [r [B E]]. rewrite E, minus_IZR.
      assert (Z2 : 0 <= z * z) by apply Rle_0_sqr.
      assert (M : 0 <= IZR a * (r * (z * z))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
      assert (M2 : 0 <= IZR a * (z * z)) by (apply Rmult_le_pos; lra). lra.
  Qed.
End Rounding.

Lemma pivot a v N z x : quad (wholes ((a :: v) :: N)) (z :: x) * IZR a =
  (IZR a * z + dot (whole_row v) x) * (IZR a * z + dot (whole_row v) x) +
  (IZR a * quad (wholes N) x - dot (whole_row v) x * dot (whole_row v) x).
Proof. rewrite quad_hd. cbn [hd tl]. ring. Qed.

Lemma pivot_nonneg a v N z x : (0 < a)%Z -> length x = length v ->
  0 <= quad (wholes (eliminate (fun z => z) (fun z => z) a v N)) x -> 0 <= quad (wholes ((a :: v) :: N)) (z :: x).
Proof.
  intros A L H. rewrite quad_eliminate in H by assumption. assert (E := pivot a v N z x).
  assert (P : 0 < IZR a) by (apply IZR_lt; assumption).
  assert (S := Rle_0_sqr (IZR a * z + dot (whole_row v) x)). unfold Rsqr in S.
  apply Rmult_le_reg_r with (IZR a); auto. rewrite Rmult_0_l, E. lra.
Qed.

Theorem rounded_elimination_spec n : forall M x, rounded_elimination n M = true -> length x = n ->
  0 <= quad (wholes M) x.
Proof.
  induction n as [|n IH]; intros M x E L.
  - destruct x; [|discriminate]. rewrite quad_nil_r. lra.
  - destruct x as [|z x]; [discriminate|]. injection L as L. simpl in E.
    destruct M as [|[|a v] N]; try discriminate. apply andb_true_iff in E. destruct E as [E K].
    apply andb_true_iff in E. destruct E as [W A]. apply Nat.eqb_eq in W. apply Z.ltb_lt in A.
    apply pivot_nonneg; auto; [congruence|]. apply IH with (x := x) in K; auto.
    assert (P : 0 < IZR a) by (apply IZR_lt; assumption).
    assert (F : forall z, IZR a * IZR (z / a) <= IZR z <= IZR a * IZR (z / a) + IZR a).
    { intros w. assert (D := Z.div_mod w a). assert (M := Z.mod_pos_bound w a A).
      rewrite <- !mult_IZR, <- plus_IZR. split; apply IZR_le; lia. }
    assert (R := round_all a (fun z => z / a)%Z A F (Z.of_nat n) v N x ltac:(congruence)).
    rewrite <- INR_IZR_INZ, L in R.
    assert (0 <= IZR a * quad (wholes (eliminate (fun z => z / a)%Z (fun z => z / a - Z.of_nat n)%Z a v N)) x)
      by (apply Rmult_le_pos; lra).
    lra.
Qed.

Fixpoint scaled (es : list Z) (x : list R) : list R :=
  match es, x with e :: es', z :: x' => powerRZ 2 e * z :: scaled es' x' | _, _ => [] end.

Lemma short_row_spec e z es : forall row x, length x = length es ->
  2 * (z * dot (whole_row (short_row e es row)) x) - INR (length x) * (z * z) - norm2 x <=
  2 * (powerRZ 2 e * z * dot (map val row) (scaled es x)).
Proof.
  induction es as [|f es IH]; intros row [|t x] L; cbn [length] in L; try discriminate.
  - simpl. rewrite dot_nil_r. lra.
  - cbn [length]. rewrite S_INR. destruct row as [|m row].
    + simpl. assert (Z2 : 0 <= z * z) by apply Rle_0_sqr. assert (N := norm2_nonneg x).
      assert (0 <= t * t) by apply Rle_0_sqr. assert (I := pos_INR (length x)).
      assert (0 <= INR (length x) * (z * z)) by (apply Rmult_le_pos; lra). lra.
    + assert (K := IH row x ltac:(congruence)). unfold short_row in *.
      cbn [List.combine map whole_row dot scaled norm2 fst snd] in *.
      assert (B := floor_scaled_spec (e + f) m). rewrite powerRZ_sum in B.
      set (w := IZR (floor_scaled (e + f) m)) in *.
      assert (C := cross_term (powerRZ 2 e * powerRZ 2 f * val m - w) z t ltac:(lra)).
      unfold whole_row in *. lra.
Qed.

Lemma short_spec k es : forall M x, length M = length es -> length x = length es ->
  quad (wholes (short k es M)) x + (IZR k - INR (length x)) * norm2 x <= quad (reals M) (scaled es x).
Proof.
  induction es as [|e es IH]; intros [|row M] [|z x] L K; cbn [length] in L, K; try discriminate.
  - simpl. lra.
  - cbn [short reals map scaled quad]. rewrite quad_hd. cbn [hd tl length norm2].
    fold (reals M). rewrite S_INR, hd_map_val, tl_map_val, minus_IZR.
    assert (H := IH M x ltac:(congruence) ltac:(congruence)).
    assert (R := short_row_spec e z es (tl row) x ltac:(congruence)).
    assert (B := floor_scaled_spec (e + e) (hd zero row)). rewrite powerRZ_sum in B.
    assert (Z2 : 0 <= z * z) by apply Rle_0_sqr.
    assert (C : IZR (floor_scaled (e + e) (hd zero row)) * (z * z) <=
      powerRZ 2 e * powerRZ 2 e * val (hd zero row) * (z * z)) by (apply Rmult_le_compat_r; lra).
    lra.
Qed.

Lemma unscaled es : forall x, length x = length es -> exists y, length y = length es /\ scaled es y = x.
Proof.
  induction es as [|e es IH]; intros [|z x] L; simpl in L; try discriminate.
  - exists []. auto.
  - destruct (IH x ltac:(congruence)) as [y [H E]]. exists (z / powerRZ 2 e :: y). simpl. rewrite H, E. split; auto.
    f_equal. assert (P := powerRZ_pos e). field. lra.
Qed.

Lemma short_semidefinite_spec M x : short_semidefinite M = true -> length x = length M -> 0 <= quad (reals M) x.
Proof.
  unfold short_semidefinite. set (es := map _ M). intros E L.
  assert (W : length es = length M) by (unfold es; apply map_length).
  destruct (unscaled es x ltac:(congruence)) as [y [H S]]. rewrite <- S.
  assert (K := short_spec (Z.of_nat (length M)) es M y ltac:(congruence) H).
  apply rounded_elimination_spec with (x := y) in E; [|congruence].
  rewrite <- INR_IZR_INZ, H, W in K. lra.
Qed.

Lemma dot_scale s a : forall x, dot (map (Rmult s) a) x = s * dot a x.
Proof. induction a as [|c a IH]; intros [|z x]; simpl; try lra. rewrite IH. ring. Qed.

Lemma quad_scale s M : forall x, quad (map (map (Rmult s)) M) x = s * quad M x.
Proof.
  induction M as [|row M IH]; intros [|z x]; simpl; try ring. rewrite IH.
  destruct row as [|c row]; simpl; [ring|]. rewrite dot_scale. ring.
Qed.

Lemma divides_spec d X : (0 < d)%Z -> divides d X = true ->
  wholes X = map (map (Rmult (IZR d))) (wholes (map (map (fun z => z / d)%Z) X)).
Proof.
  intros D. unfold divides, wholes, whole_row. intros H. rewrite forallb_forall in H. rewrite !map_map.
  apply map_ext_in. intros row I. apply H in I. rewrite forallb_forall in I. rewrite !map_map.
  apply map_ext_in. intros z J. apply I, Z.eqb_eq in J. rewrite <- mult_IZR. f_equal.
  assert (M := Z.div_mod z d). lia.
Qed.

Theorem exact_elimination_spec n : forall previous M x, exact_elimination n previous M = true -> length x = n ->
  0 <= quad (wholes M) x.
Proof.
  induction n as [|n IH]; intros previous M x E L.
  - destruct x; [|discriminate]. rewrite quad_nil_r. lra.
  - destruct x as [|z x]; [discriminate|]. injection L as L. cbn [exact_elimination] in E.
    destruct M as [|[|a v] N]; try discriminate. apply andb_true_iff in E. destruct E as [W E].
    apply Nat.eqb_eq in W. destruct (Z.ltb_spec 0 a) as [A|A].
    + apply pivot_nonneg; auto; [congruence|]. cbv zeta in E. set (X := eliminate _ _ a v N) in *.
      destruct (Z.ltb 0 previous && divides previous X) eqn:D.
      * apply andb_true_iff in D. destruct D as [P D]. apply Z.ltb_lt in P. apply IH with (x := x) in E; auto.
        rewrite (divides_spec _ _ P D), quad_scale. apply Rmult_le_pos; auto. apply IZR_le. lia.
      * eapply IH; eauto.
    + apply andb_true_iff in E. destruct E as [E K]. apply andb_true_iff in E. destruct E as [Z0 F].
      apply Z.eqb_eq in Z0. subst a. rewrite quad_hd. cbn [hd tl].
      assert (V : dot (whole_row v) x = 0).
      { clear - F. revert x. induction v as [|c v IHv]; intros [|t x]; auto. cbn [forallb] in F.
        apply andb_true_iff in F. destruct F as [F G]. apply Z.eqb_eq in F. subst c.
        cbn [whole_row map dot]. change (map IZR v) with (whole_row v). rewrite IHv by assumption. ring. }
      rewrite V. apply IH with (x := x) in K; auto. lra.
Qed.

Lemma exactly_semidefinite_spec M x : exactly_semidefinite M = true -> length x = length M -> 0 <= quad (reals M) x.
Proof.
  unfold exactly_semidefinite. set (d := common_den M). set (e := least_expo M). cbv zeta. intros E L.
  apply andb_true_iff in E. destruct E as [W E]. apply exact_elimination_spec with (x := x) in E; auto.
  set (s := IZR (Zpos d) * powerRZ 2 (- e)).
  assert (S : 0 < s) by (apply Rmult_lt_0_compat; [apply IZR_lt; lia|apply powerRZ_pos]).
  assert (Q : wholes (map (map (whole d e)) M) = map (map (Rmult s)) (reals M)).
  { unfold wholes, whole_row, reals. rewrite !map_map. apply map_ext_in. intros row I. rewrite !map_map.
    apply map_ext_in. intros m J. rewrite forallb_forall in W. apply W in I. rewrite forallb_forall in I.
    apply whole_spec, I, J. }
  rewrite Q, quad_scale in E. apply Rmult_le_reg_l with s; auto. lra.
Qed.

Theorem semidefinite_spec M x : semidefinite M = true -> length x = length M -> 0 <= quad (reals M) x.
Proof.
  unfold semidefinite. intros E L. apply orb_true_iff in E.
  destruct E; auto using short_semidefinite_spec, exactly_semidefinite_spec.
Qed.

(* Why it is true: ellipsoids --------------------------------------------------------------------------------------- *)

Lemma val_nquad M : forall d, val (nquad M d) = quad (reals M) (map val d).
Proof.
  induction M as [|row M IH]; intros [|z d]; simpl; try apply val_zero.
  rewrite !val_add, !val_mul, !val_add, val_mul, IH, val_ndot, rdot_dot, hd_map_val, tl_map_val. ring.
Qed.

Lemma val_signed up x : val (signed up x) = (if up then 1 else -1) * val x.
Proof. destruct up; simpl; [|rewrite val_neg]; ring. Qed.

Lemma dot_signed up d : forall x, dot (map val (map (signed up) d)) x = (if up then 1 else -1) * dot (map val d) x.
Proof. induction d as [|c d IH]; intros [|z x]; simpl; try ring. rewrite IH, val_signed. ring. Qed.

Lemma dot_minus d : forall x c, length d = length c -> length x = length c ->
  dot d x = dot d (map val c) + dot d (minus x c).
Proof.
  induction d as [|a d IH]; intros [|z x] [|v c] L K; simpl in *; try discriminate; try lra.
  rewrite (IH x c) by congruence. ring.
Qed.

Lemma minus_length x : forall c, length x = length c -> length (minus x c) = length c.
Proof. induction x as [|z x IH]; intros [|v c] H; simpl in *; auto; discriminate || (f_equal; auto). Qed.

Lemma root_avoided t room square : 0 <= room -> t * t <= square -> square <= room * room -> - room <= t <= room.
Proof. intros. split; nra. Qed.

Lemma unit_from_length i p axis : length (unit_from i p axis) = p.
Proof. revert i. induction p as [|p IH]; intros i; simpl; auto. Qed.

Lemma well_formed_length p r : well_formed p r = true -> length (regressor r) = p.
Proof.
  unfold well_formed. intros H. apply andb_true_iff in H. destruct H as [H _]. apply andb_true_iff in H.
  apply Nat.eqb_eq, H.
Qed.

Lemma direction_of_length P o d : direction_of P o = Some d -> length d = width P.
Proof.
  destruct o as [k|j]; simpl.
  - destruct (get P k) as [r|] eqn:G; [|discriminate]. intros E. injection E as <-. apply get_spec in G.
    apply well_formed_length, G.
  - destruct (Nat.ltb j (width P)); [|discriminate]. intros E. injection E as <-. apply unit_from_length.
Qed.

Section Consistent.
  Variable P : problem.
  Variable box : list side.
  Variable x : list R.
  Hypothesis is_consistent : consistent P x.
  Hypothesis in_box : inside box x.

  Lemma x_length : length x = width P.
  Proof. destruct is_consistent as [I _]. apply inside_length, I. Qed.

  Lemma side_holds_spec earlier s d up src : Forall (fun b => in_ellipsoid b x) earlier ->
    side_holds P box earlier s d up src = true -> length d = width P ->
    (if up then 1 else -1) * dot (map val d) x >= (if up then 1 else -1) * val (mid s) - val (half_width s).
  Proof.
    intros F E L. unfold side_holds in E. cbv zeta in E.
    assert (B : forall ws, match largest_value P box (map (signed up) d) ws with
                           | Some m => le (sub (signed up (mid s)) (half_width s)) m | None => false end = true ->
      (if up then 1 else -1) * dot (map val d) x >= (if up then 1 else -1) * val (mid s) - val (half_width s)).
    { intros ws W. destruct (largest_value P box (map (signed up) d) ws) as [m|] eqn:M; [|discriminate].
      apply le_spec in W. rewrite val_sub, val_signed in W.
      assert (K := largest_value_spec _ _ _ _ _ _ in_box (consistent_rests _ _ ws is_consistent) M).
      rewrite rdot_dot, dot_signed in K. lra. }
    destruct src as [|ws|n]; [apply (B _ E)|apply (B _ E)|].
    destruct (nth_error earlier n) as [b|] eqn:N; [|discriminate]. apply nth_error_In in N.
    rewrite Forall_forall in F. destruct (F b N) as [X U]. apply andb_true_iff in E. destruct E as [E S].
    apply andb_true_iff in E. destruct E as [W R]. apply Nat.eqb_eq in W. apply negb_true_iff, is_neg_false in R.
    apply le_spec in S. rewrite val_nquad, val_square in S. specialize (U (map val d)). rewrite map_length in U.
    specialize (U W). rewrite !val_sub, !val_signed, val_ndot, rdot_dot in S, R.
    assert (D := dot_minus (map val d) x (center b)). rewrite map_length in D. specialize (D W X).
    assert (T := root_avoided _ _ _ R U S). rewrite D. destruct up; lra.
  Qed.

  Lemma strip_holds_spec earlier s d : Forall (fun b => in_ellipsoid b x) earlier ->
    strip_holds P box earlier s = Some d ->
    length d = width P /\
    0 <= val (weight s) * (val (half_width s) * val (half_width s) -
      (val (mid s) - dot (map val d) x) * (val (mid s) - dot (map val d) x)).
  Proof.
    intros F E. unfold strip_holds in E. destruct (direction_of P (of s)) as [c|] eqn:D; [|discriminate].
    apply direction_of_length in D.
    destruct (negb (is_neg (weight s)) && negb (is_neg (half_width s)) &&
      side_holds P box earlier s c true (below s) && side_holds P box earlier s c false (above s)) eqn:H; [|discriminate].
    injection E as <-. split; [assumption|]. apply andb_true_iff in H. destruct H as [H A]. apply andb_true_iff in H.
    destruct H as [H B]. apply andb_true_iff in H. destruct H as [W H].
    apply negb_true_iff, is_neg_false in W. apply negb_true_iff, is_neg_false in H.
    apply (side_holds_spec _ _ _ _ _ F) in A; auto. apply (side_holds_spec _ _ _ _ _ F) in B; auto.
    apply Rmult_le_pos; auto. set (t := val (mid s) - dot (map val c) x).
    assert (- val (half_width s) <= t <= val (half_width s)) by (unfold t; lra).
    assert (0 <= (val (half_width s) - t) * (val (half_width s) + t)) by (apply Rmult_le_pos; lra). lra.
  Qed.
End Consistent.

Fixpoint zero_at_flat (free : list bool) (y : list R) : Prop :=
  match free, y with f :: free', z :: y' => (f = false -> z = 0) /\ zero_at_flat free' y' | _, _ => True end.

Lemma dot_pick free : forall v y, zero_at_flat free y -> dot (pick free v) (pick free y) = dot v y.
Proof.
  induction free as [|f free IH]; intros v y H; [reflexivity|]. destruct v as [|c v]; [reflexivity|].
  destruct y as [|z y]; [rewrite !dot_nil_r; reflexivity|]. destruct H as [H K]. cbn [pick]. destruct f; cbn [dot].
  - rewrite IH by assumption. reflexivity.
  - rewrite IH, H by auto. ring.
Qed.

Lemma map_pick {A B : Type} (f : A -> B) free : forall l, map f (pick free l) = pick free (map f l).
Proof. induction free as [|[] free IH]; intros [|z l]; simpl; auto. rewrite IH. reflexivity. Qed.

Lemma dot_pick_zero free : forall v u, zero_where_flat free v = true ->
  dot (map val v) u = dot (map val (pick free v)) (pick free u).
Proof.
  induction free as [|f free IH]; intros v u H; [reflexivity|]. destruct v as [|c v]; [reflexivity|].
  destruct u as [|z u]; [rewrite !dot_nil_r; reflexivity|]. cbn [zero_where_flat] in H. apply andb_true_iff in H.
  destruct H as [H K]. cbn [pick]. destruct f; cbn [map dot].
  - rewrite (IH v u K). reflexivity.
  - apply is_zero_spec in H. rewrite H, (IH v u K). ring.
Qed.

Lemma dot_all_zero v : forall u, forallb is_zero v = true -> dot (map val v) u = 0.
Proof. intros u H. rewrite <- rdot_dot. apply all_zero, H. Qed.

Lemma quad_pick free : forall M u, flat_rows free M = true ->
  quad (reals M) u = quad (reals (pick_triangle free M)) (pick free u).
Proof.
  induction free as [|f free IH]; intros M u H; [reflexivity|]. destruct M as [|row M]; [reflexivity|].
  destruct u as [|z u]; [rewrite !quad_nil_r; reflexivity|]. cbn [flat_rows] in H. apply andb_true_iff in H.
  destruct H as [H K]. cbn [pick pick_triangle]. assert (J := IH M u K). destruct f.
  - cbn [reals map quad hd tl]. fold (reals M). fold (reals (pick_triangle free M)).
    rewrite <- J, hd_map_val, tl_map_val, (dot_pick_zero free (tl row) u H). reflexivity.
  - rewrite <- J. cbn [reals map quad]. fold (reals M). rewrite hd_map_val, tl_map_val.
    assert (T : dot (map val (tl row)) u = 0 /\ val (hd zero row) = 0).
    { destruct row as [|c row]; cbn [hd tl]; [rewrite val_zero; auto|]. simpl in H. apply andb_true_iff in H. destruct H.
      split; [apply dot_all_zero; assumption|apply is_zero_spec; assumption]. }
    destruct T as [T1 T2]. rewrite T1, T2. ring.
Qed.

Lemma flat_axes_fixed_spec free : forall box c x, flat_axes_fixed free box c = true -> inside box x ->
  zero_at_flat free (minus x c) /\ length free = length c.
Proof.
  induction free as [|f free IH]; intros [|s box] [|v c] [|z x] E I; simpl in *; try discriminate; try contradiction; auto.
  apply andb_true_iff in E. destruct E as [E F]. destruct I as [W I]. destruct (IH _ _ _ F I) as [A B].
  split; [|congruence]. split; [|assumption]. intros ->. simpl in E. unfold fixed in E.
  destruct s as [[low|] [high|]]; try discriminate. apply andb_true_iff in E. destruct E as [L H].
  apply le_spec in L. apply le_spec in H. destruct W as [W1 W2]. simpl in *. lra.
Qed.

(* What the weighted strips say *)
Definition sum_of (f : form) (z : list R) : R :=
  val (rest f) + 2 * dot (map val (linear f)) z - quad (reals (quadratic f)) z.

Lemma dot_axpy l a b z : dot (map val (axpy l a b)) z = val l * dot (map val a) z + dot (map val b) z.
Proof. rewrite <- !rdot_dot. apply rdot_axpy. Qed.

Lemma quad_hd_num A z x : quad (reals A) (z :: x) =
  z * (val (hd zero (hd [] A)) * z + 2 * dot (map val (tl (hd [] A))) x) + quad (reals (tl A)) x.
Proof. destruct A as [|row A]; simpl; [rewrite val_zero; ring|]. rewrite hd_map_val, tl_map_val. reflexivity. Qed.

Lemma axpy_hd l c d row : val (hd zero (axpy l (c :: d) row)) = val l * val c + val (hd zero row) /\
  forall x, dot (map val (tl (axpy l (c :: d) row))) x = val l * dot (map val d) x + dot (map val (tl row)) x.
Proof.
  destruct row as [|r row]; simpl.
  - rewrite val_mul, val_zero. split; [ring|]. intros x. rewrite <- !rdot_dot, rdot_scale. simpl. ring.
  - split; [|intros x; apply dot_axpy]. destruct (is_zero c) eqn:E.
    + apply is_zero_spec in E. rewrite E. ring.
    + rewrite val_add, val_mul. reflexivity.
Qed.

Lemma quad_rank_one w d : forall A z,
  quad (reals (rank_one w d A)) z = quad (reals A) z + val w * (dot (map val d) z * dot (map val d) z).
Proof.
  induction d as [|c d IH]; intros A z; [simpl; ring|]. destruct z as [|t z]; [rewrite !quad_nil_r, dot_nil_r; ring|].
  rewrite (quad_hd_num A). cbn [rank_one]. rewrite quad_hd_num. cbn [hd tl]. rewrite IH.
  destruct (axpy_hd (mul w c) c d (hd [] A)) as [H1 H2]. rewrite H1, H2, val_mul. cbn [map dot]. ring.
Qed.

Lemma with_strip_spec c free f s d x : length d = length c -> length x = length c -> zero_at_flat free (minus x c) ->
  sum_of (with_strip c free f s d) (pick free (minus x c)) =
  sum_of f (pick free (minus x c)) + val (weight s) * (val (half_width s) * val (half_width s) -
      (val (mid s) - dot (map val d) x) * (val (mid s) - dot (map val d) x)).
Proof.
  intros L K Z. unfold sum_of, with_strip. cbn [quadratic linear rest].
  rewrite quad_rank_one, dot_axpy, map_pick, (dot_pick _ _ _ Z).
  rewrite val_add, !val_mul, !val_sub, !val_square, !val_sub, val_ndot, rdot_dot.
  rewrite (dot_minus (map val d) x c) by (rewrite ?map_length; assumption). ring.
Qed.

Lemma with_strips_spec P box earlier c free x ss : consistent P x -> inside box x ->
  Forall (fun b => in_ellipsoid b x) earlier -> length c = width P -> zero_at_flat free (minus x c) ->
  forall f g, with_strips P box earlier c free f ss = Some g ->
  0 <= sum_of f (pick free (minus x c)) -> 0 <= sum_of g (pick free (minus x c)).
Proof.
  intros C I F W Z. induction ss as [|s ss IH]; intros f g E H; simpl in E; [injection E as <-; assumption|].
  destruct (strip_holds P box earlier s) as [d|] eqn:S; [|discriminate].
  destruct (strip_holds_spec P box x C I _ _ _ F S) as [L K].
  apply IH in E; auto. assert (X := x_length P x C).
  rewrite (with_strip_spec c free f s d x) by congruence. lra.
Qed.

(* The matrix of blocks *)
Fixpoint cross (B : list (list R)) (u w : list R) : R :=
  match B, u with b :: B', z :: u' => z * dot b w + cross B' u' w | _, _ => 0 end.

Lemma dot_app a : forall b u w, length a = length u -> dot (a ++ b) (u ++ w) = dot a u + dot b w.
Proof.
  induction a as [|c a IH]; intros b [|z u] w L; simpl in *; try discriminate; [ring|]. rewrite IH by congruence. ring.
Qed.

Lemma quad_beside n : forall M B N u w, is_triangle n M = true -> length B = n -> length u = n ->
  quad (reals (beside M B N)) (u ++ w) = quad (reals M) u + 2 * cross (map (map val) B) u w + quad (reals N) w.
Proof.
  induction n as [|n IH]; intros [|row M] [|b B] N [|z u] w T L K; simpl in T, L, K; try discriminate.
  - simpl. ring.
  - apply andb_true_iff in T. destruct T as [R T]. apply Nat.eqb_eq in R.
    cbn [beside reals map app quad cross]. fold (reals (beside M B N)). fold (reals M).
    rewrite (IH M B N u w T ltac:(congruence) ltac:(congruence)). rewrite map_app.
    destruct row as [|c row]; [discriminate|]. simpl in R. cbn [map app hd tl].
    rewrite dot_app by (rewrite map_length; congruence). ring.
Qed.

Lemma beside_length n : forall M B N, is_triangle n M = true -> length B = n ->
  length (beside M B N) = (n + length N)%nat.
Proof.
  induction n as [|n IH]; intros [|row M] [|b B] N T L; simpl in T, L; try discriminate; auto.
  apply andb_true_iff in T. destruct T as [_ T]. simpl. rewrite IH; auto.
Qed.

Lemma skipn_nth (z : list R) : forall k, (k < length z)%nat -> skipn k z = nth k z 0 :: skipn (S k) z.
Proof.
  induction z as [|t z IH]; intros k H; simpl in H; [lia|]. destruct k as [|k]; [reflexivity|].
  change (skipn (S k) (t :: z)) with (skipn k z). change (skipn (S (S k)) (t :: z)) with (skipn (S k) z). simpl nth.
  apply IH. lia.
Qed.

Lemma cross_units n z t : length z = n -> forall m k u, (k + m = n)%nat -> length u = m ->
  cross (map (map val) (map (fun i => unit_from 0 n i ++ [zero]) (seq k m))) u (z ++ [t]) = dot u (skipn k z).
Proof.
  intros L. induction m as [|m IH]; intros k [|a u] K W; simpl in W; try discriminate; [reflexivity|].
  cbn [seq map cross]. rewrite IH by (congruence || lia). rewrite (skipn_nth z k) by lia. cbn [dot].
  rewrite map_app, dot_app by (rewrite map_length, unit_from_length; auto).
  rewrite <- rdot_dot, rdot_unit by lia. rewrite Nat.sub_0_r. simpl. rewrite val_zero. ring.
Qed.

Lemma cross_column b : forall z t, cross (map (map val) (map (fun c => [neg c]) b)) z [t] = - t * dot (map val b) z.
Proof. induction b as [|c b IH]; intros [|a z] t; simpl; try ring. rewrite IH, val_neg. ring. Qed.

Lemma quad_gap n M f u z : is_triangle n M = true -> is_triangle n (quadratic f) = true -> length (linear f) = n ->
  length u = n -> length z = n ->
  quad (reals (gap n M f)) (u ++ z ++ [1]) = quad (reals M) u + 2 * dot u z + 1 - sum_of f z.
Proof.
  intros T A L U Z. unfold gap.
  rewrite (quad_beside n) by (rewrite ?map_length, ?seq_length; auto).
  rewrite (quad_beside n) by (rewrite ?map_length; auto).
  rewrite (cross_units n z 1 Z n 0 u) by auto. rewrite cross_column. cbn [skipn].
  simpl (quad (reals [[_]]) _). rewrite val_sub, val_one. unfold sum_of. ring.
Qed.

Lemma gap_length n M f : is_triangle n M = true -> is_triangle n (quadratic f) = true -> length (linear f) = n ->
  length (gap n M f) = (n + (n + 1))%nat.
Proof.
  intros T A L. unfold gap. rewrite (beside_length n) by (rewrite ?map_length, ?seq_length; auto).
  rewrite (beside_length n) by (rewrite ?map_length; auto). reflexivity.
Qed.

Lemma quad_homogeneous s M : forall u, quad M (map (Rmult s) u) = s * s * quad M u.
Proof.
  assert (D : forall a x, dot a (map (Rmult s) x) = s * dot a x).
  { induction a as [|c a IH]; intros [|z x]; simpl; try ring. rewrite IH. ring. }
  induction M as [|row M IH]; intros [|z u]; simpl; try ring. rewrite IH, D. ring.
Qed.

Lemma dot_homogeneous s u : forall z, dot (map (Rmult s) u) z = s * dot u z.
Proof. apply dot_scale. Qed.

(* s² q + 2 s t + 1 ≥ 0 for all s *)
Lemma discriminant q t : (forall s, 0 <= s * s * q + 2 * (s * t) + 1) -> t * t <= q.
Proof.
  intros H. destruct (Req_dec t 0) as [E|E].
  - subst t. rewrite Rmult_0_l. destruct (Rle_lt_dec 0 q) as [L|L]; auto. exfalso.
    specialize (H (1 - / q)). assert (I : / q < 0) by (apply Rinv_lt_0_compat; assumption).
    replace ((1 - / q) * (1 - / q) * q + 2 * ((1 - / q) * 0) + 1) with (q + / q - 1) in H by (field; lra). lra.
  - specialize (H (- / t)). replace (- / t * - / t * q + 2 * (- / t * t) + 1) with ((q - t * t) / (t * t)) in H
      by (field; assumption).
    assert (P : 0 < t * t) by (destruct (Rtotal_order t 0) as [K|[K|K]]; nra).
    assert (Q : 0 <= (q - t * t) / (t * t) * (t * t)) by (apply Rmult_le_pos; lra).
    replace ((q - t * t) / (t * t) * (t * t)) with (q - t * t) in Q by (field; lra). lra.
Qed.

Lemma pick_length free : forall M (u : list R), length M = length free -> length u = length free ->
  length (pick free u) = length (pick_triangle free M).
Proof.
  induction free as [|f free IH]; intros [|row M] [|z u] L K; simpl in *; try discriminate; auto.
  destruct f; simpl; rewrite (IH M u) by congruence; reflexivity.
Qed.

Lemma places_length given axes : forall ps, places axes given = Some ps -> length ps = length axes.
Proof.
  induction axes as [|a axes IH]; intros ps E; simpl in E; [injection E as <-; reflexivity|].
  destruct (place_of a 0 given); [|discriminate]. destruct (places axes given); [|discriminate].
  injection E as <-. simpl. f_equal. auto.
Qed.

Lemma body_of_length P r b : body_of P r = Some b -> length (center b) = width P /\ length (shape b) = width P.
Proof.
  unfold body_of. destruct (_ && _); [|discriminate]. destruct (places _ _) as [ps|] eqn:E; [|discriminate].
  intros H. injection H as <-. simpl.
  assert (L := places_length _ _ _ E). rewrite seq_length in L.
  rewrite map_length. split; auto. rewrite <- L, <- (map_length fst ps). generalize (map fst ps).
  induction l as [|a l IH]; simpl; auto.
Qed.

Theorem round_holds_spec P box earlier r b x : consistent P x -> inside box x ->
  Forall (fun b => in_ellipsoid b x) earlier -> round_holds P box earlier r = Some b -> in_ellipsoid b x.
Proof.
  intros C I F E. unfold round_holds in E. destruct (body_of P r) as [b'|] eqn:B; [|discriminate].
  apply body_of_length in B. destruct B as [BC BS]. cbv zeta in E.
  set (free := free_axes (shape b')) in *. set (Pf := pick_triangle free (shape b')) in *.
  destruct (flat_rows free (shape b') && flat_axes_fixed free box (center b') && is_triangle (length Pf) Pf) eqn:T;
    [|discriminate].
  destruct (with_strips P box earlier (center b') free (Form [] [] zero) (strips r)) as [f|] eqn:S; [|discriminate].
  destruct (is_triangle (length Pf) (quadratic f) && Nat.eqb (length (linear f)) (length Pf) &&
    semidefinite (gap (length Pf) Pf f)) eqn:U; [|discriminate]. injection E as <-.
  apply andb_true_iff in T. destruct T as [T T3]. apply andb_true_iff in T. destruct T as [T1 T2].
  apply andb_true_iff in U. destruct U as [U U3]. apply andb_true_iff in U. destruct U as [U1 U2].
  apply Nat.eqb_eq in U2. destruct (flat_axes_fixed_spec _ _ _ _ T2 I) as [Z LF].
  assert (X := x_length P x C). split; [congruence|]. intros u LU.
  set (y := minus x (center b')) in *. set (z := pick free y).
  assert (SZ : 0 <= sum_of f z).
  { apply (with_strips_spec _ _ _ _ _ _ _ C I F BC Z _ _ S). unfold sum_of; simpl. rewrite val_zero. lra. }
  assert (LY : length y = length free) by (unfold y; rewrite minus_length; congruence).
  assert (LM : length (shape b') = length free) by congruence.
  assert (LZ : length z = length Pf) by (apply pick_length; assumption).
  assert (LV : length (pick free u) = length Pf) by (apply pick_length; congruence).
  rewrite (quad_pick free (shape b') u T1). fold Pf. rewrite <- (dot_pick free u y Z). fold z.
  set (v := pick free u) in *. apply discriminant. intros s.
  assert (G := semidefinite_spec _ (map (Rmult s) v ++ z ++ [1]) U3).
  rewrite quad_gap in G by (rewrite ?map_length; auto).
  rewrite quad_homogeneous, dot_homogeneous in G.
  assert (N : 0 <= s * s * quad (reals Pf) v + 2 * (s * dot v z) + 1 - sum_of f z); [|lra].
  apply G. rewrite gap_length by auto. rewrite !app_length, map_length, LV, LZ. reflexivity.
Qed.

Lemma rounds_hold_spec P box rs x : consistent P x -> inside box x -> forall earlier bodies,
  Forall (fun b => in_ellipsoid b x) earlier -> rounds_hold P box earlier rs = Some bodies ->
  Forall (fun b => in_ellipsoid b x) bodies.
Proof.
  intros C I. induction rs as [|r rs IH]; intros earlier bodies F E; simpl in E; [injection E as <-; assumption|].
  destruct (round_holds P box earlier r) as [b|] eqn:R; [|discriminate].
  apply IH in E; auto. apply Forall_app. split; auto. constructor; auto. eapply round_holds_spec; eauto.
Qed.

Lemma dot_plus v : forall a b, dot v (plus a b) = dot v a + dot v b.
Proof. induction v as [|z v IH]; intros [|c a] [|d b]; simpl; try ring. rewrite IH. ring. Qed.

Lemma dot_comm a : forall x, dot a x = dot x a.
Proof. induction a as [|c a IH]; intros [|z x]; simpl; auto. rewrite IH. ring. Qed.

Lemma dot_times M : forall v, dot v (times M v) = quad M v.
Proof.
  induction M as [|row M IH]; intros [|z v]; simpl; auto. rewrite dot_plus, IH, (dot_comm v), dot_scale. ring.
Qed.

(* What the check is worth ------------------------------------------------------------------------------------------ *)

(* If it is accepted, every consistent x is in the box, and in the ellipsoid of every round. *)
Theorem inside_sound P steps rs b bodies : check_inside P steps rs = Some (b, bodies) ->
  forall x, consistent P x -> inside (sides b) x /\ forall e, In e bodies -> in_ellipsoid e x.
Proof.
  unfold check_inside. destruct rs as [|r rs]; [discriminate|].
  destruct (follow P (of_prior P) steps) as [k|] eqn:F; [|discriminate].
  destruct (rounds_hold P (sides k) [] (r :: rs)) as [bs|] eqn:R; [|discriminate].
  intros E x C. injection E as <- <-.
  assert (W : wide P (of_prior P)) by reflexivity.
  destruct (follow_steps _ _ _ _ _ W F C (consistent_prior _ _ C)) as [[_ I] _]. split; auto.
  apply Forall_forall. eapply rounds_hold_spec; eauto.
Qed.

(* The same in the usual words: v = shape⁻¹ (x − center) has v · (x − center) ≤ 1. *)
Theorem inverse_form b x v : in_ellipsoid b x -> length v = length (center b) ->
  times (reals (shape b)) v = minus x (center b) -> dot v (minus x (center b)) <= 1.
Proof.
  intros [_ U] L E. specialize (U v L). set (t := dot v (minus x (center b))) in *.
  assert (T : t = quad (reals (shape b)) v) by (unfold t; rewrite <- E; apply dot_times).
  rewrite <- T in U. destruct (Rle_lt_dec t 1) as [K|K]; auto. assert (1 * t < t * t) by (apply Rmult_lt_compat_r; lra).
  lra.
Qed.

(* An example: |1 − x| ≤ 2, from the row of a problem without a prior, puts x into (x − 1)² / 4 ≤ 1, and not into a
   smaller ellipsoid. *)
Example accepted_and_refused :
  let P := Problem [(None, None)] 1
    (fun k => match k with O => Some (Equation [one] one (of_Z 2) []) | _ => None end) in
  let inside_of (n : num) := check_inside P []
    [Round [(O, one)] [[n]] [Strip (Row_of 0) one (of_Z 2) (Num 1 (-2) 1) Itself Itself]] in
  (exists b, inside_of (of_Z 4) = Some b) /\ inside_of (Num 4095 (-10) 1) = None.
Proof. split; [eexists|]; vm_compute; reflexivity. Qed.

Print Assumptions inside_sound.
Print Assumptions inverse_form.
