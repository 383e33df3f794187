(* Certificates about linear problems in which a few rows may be violated, whichever they are.

   What runs is [check_relaxed_bound], [check_relaxed_empty] and [check_violated]; [relaxed_sound], at the end, says what
   they are worth. *)
Require Import ZArith Reals Lra Lia List Bool Arith.
Require Import Gough.Num Gough.Rows Gough.Linear Gough.Covers.
Import ListNotations.
Local Open Scope R_scope.

(* The rows that x violates are all among V. *)
Definition violates_only (P : problem) (V : list nat) (x : list R) : Prop :=
  forall k r, row_of P k r -> ~ In k V -> satisfies r x.

(* x is in the prior, and violates at most q rows. *)
Definition consistent_but (P : problem) (q : nat) (x : list R) : Prop :=
  inside (prior P) x /\ exists V, (length V <= q)%nat /\ violates_only P V x.

(* direction · x ≥ value: each cut proves it for all x that violate none of its rows, and a contradiction is a cut that
   no x satisfies. If no q rows meet all of these, then x satisfies all rows of some cut. *)
Record relaxed_step := RelaxedStep {
  direction : list num; value : num; cuts : list weights; contradictions : list weights }.

(* What runs -------------------------------------------------------------------------------------------------------- *)

(* The rows whose weight is not 0. *)
Definition support (ws : weights) : list nat := map fst (filter (fun kl => negb (is_zero (snd kl))) ws).

(* The weights prove direction · x ≥ value for x in the box. *)
Definition proves (P : problem) (box : list side) (c : list num) (v : num) (ws : weights) : bool :=
  match largest_value P box c ws with Some m => le v m | None => false end.

Definition nothing (P : problem) : list num := repeat zero (width P).

(* No x in the box satisfies all rows of these weights. *)
Definition contradicts (P : problem) (box : list side) (ws : weights) : bool :=
  match largest_value P box (nothing P) ws with Some m => is_pos m | None => false end.

Definition step_holds (P : problem) (q : nat) (shared : list weights) (box : list side) (s : relaxed_step) : bool :=
  forallb (contradicts P box) (contradictions s) &&
  forallb (proves P box (direction s) (value s)) (cuts s) &&
  no_cover (map support (shared ++ contradictions s ++ cuts s)) q [].

Fixpoint follow_relaxed (P : problem) (q : nat) (shared : list weights) (b : known) (steps : list relaxed_step)
    : option known :=
  match steps with
  | [] => Some b
  | s :: rest =>
      if step_holds P q shared (sides b) s then follow_relaxed P q shared (with_bound b (direction s) (value s)) rest
      else None
  end.

(* The box of all x of the prior that violate at most q rows; [shared] are contradictions that serve every step. *)
Definition relaxed_box (P : problem) (q : nat) (shared : list weights) (steps : list relaxed_step) : option known :=
  if forallb (contradicts P (prior P)) shared then follow_relaxed P q shared (of_prior P) steps else None.

Definition check_relaxed_bound (P : problem) (q : nat) (shared : list weights) (steps : list relaxed_step)
    : option known :=
  match steps with [] => None | _ => relaxed_box P q shared steps end.

Definition check_relaxed_empty (P : problem) (q : nat) (shared : list weights) (steps : list relaxed_step) : bool :=
  match relaxed_box P q shared steps with
  | Some b => is_empty b || no_cover (map support shared) q []
  | None => false
  end.

(* Every x of the prior violates at least [at_least] rows, and one that violates at most q violates each outlier. *)
Definition check_violated (P : problem) (at_least q : nat) (outliers : list nat) (shared : list weights) : bool :=
  let sets := map support shared in
  negb (Nat.eqb at_least 0 && match outliers with [] => true | _ => false end) && distinct outliers &&
  forallb (contradicts P (prior P)) shared &&
  match at_least with O => true | S m => no_cover sets m [] end &&
  forallb (fun k => match get P k with Some _ => no_cover sets q [k] | None => false end) outliers.

(* Why it is true --------------------------------------------------------------------------------------------------- *)

Lemma support_spec ws k l : In (k, l) ws -> val l <> 0 -> In k (support ws).
Proof.
  intros I N. unfold support. change k with (fst (k, l)). apply in_map. apply filter_In. split; auto.
  apply negb_true_iff. simpl. destruct (is_zero l) eqn:E; auto. apply is_zero_spec in E. contradiction.
Qed.

(* Weights rest on rows that x satisfies, if none of their rows is violated. *)
Lemma unmet_rests P V x ws : violates_only P V x -> (forall v, In v V -> ~ In v (support ws)) -> rests P x ws.
Proof.
  intros H U k l r I N R. apply (H k r R). intros J. apply (U k J). eapply support_spec; eauto.
Qed.

Lemma nothing_zero P x : rdot (nothing P) x = 0.
Proof.
  unfold nothing. revert x. induction (width P) as [|n IH]; intros [|z x]; simpl; try lra. rewrite IH, val_zero. ring.
Qed.

Lemma contradicts_spec P box ws x : contradicts P box ws = true -> inside box x -> ~ rests P x ws.
Proof.
  unfold contradicts. intros E I R. destruct (largest_value P box (nothing P) ws) as [m|] eqn:L; [|discriminate].
  assert (K := largest_value_spec _ _ _ _ _ _ I R L). rewrite nothing_zero in K. apply is_pos_spec in E. lra.
Qed.

Lemma proves_spec P box c v ws x : proves P box c v ws = true -> inside box x -> rests P x ws -> val v <= rdot c x.
Proof.
  unfold proves. intros E I R. destruct (largest_value P box c ws) as [m|] eqn:L; [|discriminate].
  assert (K := largest_value_spec _ _ _ _ _ _ I R L). apply le_spec in E. lra.
Qed.

(* If no choice of q rows meets all of these weights, x satisfies the rows of some. *)
Lemma some_rests P V x q spared wss : no_cover (map support wss) q spared = true -> (length V <= q)%nat ->
  (forall v, In v V -> ~ In v spared) -> violates_only P V x -> exists ws, In ws wss /\ rests P x ws.
Proof.
  intros E L A H. destruct (no_cover_spec _ _ _ E V L A) as [s [I U]]. apply in_map_iff in I.
  destruct I as [ws [<- I]]. exists ws. split; auto. eapply unmet_rests; eauto.
Qed.

Lemma step_holds_spec P q V shared box s x : step_holds P q shared box s = true -> (length V <= q)%nat ->
  violates_only P V x -> inside box x -> (forall ws, In ws shared -> ~ rests P x ws) ->
  val (value s) <= rdot (direction s) x.
Proof.
  unfold step_holds. intros E L H I S. apply andb_true_iff in E. destruct E as [E N]. apply andb_true_iff in E.
  destruct E as [C K]. rewrite forallb_forall in C, K.
  destruct (some_rests P V x q [] _ N L (fun v _ F => F) H) as [ws [J R]].
  apply in_app_or in J. destruct J as [J|J]; [exfalso; eapply S; eauto|].
  apply in_app_or in J. destruct J as [J|J]; [exfalso; eapply contradicts_spec; eauto|].
  eapply proves_spec; eauto.
Qed.

Lemma follow_relaxed_spec P q V shared steps x : (length V <= q)%nat -> violates_only P V x ->
  (forall ws, In ws shared -> ~ rests P x ws) ->
  forall b b', follow_relaxed P q shared b steps = Some b' -> holds_in b x ->
  holds_in b' x /\ forall s, In s steps -> val (value s) <= rdot (direction s) x.
Proof.
  intros L H S. induction steps as [|s steps IH]; intros b b' E B; simpl in E.
  - injection E as <-. split; auto. intros s [].
  - destruct (step_holds P q shared (sides b) s) eqn:K; [|discriminate].
    assert (T := step_holds_spec _ _ _ _ _ _ _ K L H (proj2 B) S).
    destruct (IH _ _ E (with_bound_spec _ _ _ _ B T)) as [M N]. split; auto.
    intros t [J|J]; [subst t; assumption|auto].
Qed.

Lemma shared_spec P shared x : forallb (contradicts P (prior P)) shared = true -> inside (prior P) x ->
  forall ws, In ws shared -> ~ rests P x ws.
Proof. intros E I ws J. rewrite forallb_forall in E. eapply contradicts_spec; eauto. Qed.

Lemma relaxed_box_spec P q shared steps b x : relaxed_box P q shared steps = Some b -> consistent_but P q x ->
  holds_in b x /\ (forall s, In s steps -> val (value s) <= rdot (direction s) x) /\
  forall ws, In ws shared -> ~ rests P x ws.
Proof.
  unfold relaxed_box. intros E [I [V [L H]]]. destruct (forallb _ shared) eqn:S; [|discriminate].
  assert (T := shared_spec _ _ _ S I).
  destruct (follow_relaxed_spec _ _ _ _ _ _ L H T _ _ E (conj eq_refl I)) as [A B]. auto.
Qed.

(* What the checks are worth ---------------------------------------------------------------------------------------- *)

Theorem relaxed_bound_sound P q shared steps b : check_relaxed_bound P q shared steps = Some b ->
  forall x, consistent_but P q x ->
  holds_in b x /\ forall s, In s steps -> val (value s) <= rdot (direction s) x.
Proof.
  unfold check_relaxed_bound. destruct steps as [|s steps]; [discriminate|]. intros E x C.
  destruct (relaxed_box_spec _ _ _ _ _ _ E C) as [A [B _]]. auto.
Qed.

Theorem relaxed_empty_sound P q shared steps : check_relaxed_empty P q shared steps = true ->
  forall x, ~ consistent_but P q x.
Proof.
  unfold check_relaxed_empty. intros E x C. destruct (relaxed_box P q shared steps) as [b|] eqn:F; [|discriminate].
  destruct (relaxed_box_spec _ _ _ _ _ _ F C) as [A [_ S]]. apply orb_true_iff in E. destruct E as [E|E].
  - eapply is_empty_spec; eauto.
  - destruct C as [_ [V [L H]]]. destruct (some_rests P V x q [] _ E L (fun v _ F => F) H) as [ws [J R]].
    eapply S; eauto.
Qed.

Theorem violated_sound P at_least q outliers shared : check_violated P at_least q outliers shared = true ->
  forall x, inside (prior P) x ->
  (forall V, violates_only P V x -> (at_least <= length V)%nat) /\
  (consistent_but P q x -> forall k, In k outliers -> exists r, row_of P k r /\ ~ satisfies r x).
Proof.
  unfold check_violated. intros E x I. apply andb_true_iff in E. destruct E as [E O]. apply andb_true_iff in E.
  destruct E as [E M]. apply andb_true_iff in E. destruct E as [_ C]. assert (S := shared_spec _ _ _ C I). split.
  - intros V H. destruct at_least as [|m]; [lia|]. destruct (le_lt_dec (Datatypes.S m) (length V)) as [L|L]; auto.
    exfalso. destruct (some_rests P V x m [] shared M ltac:(lia) (fun v _ F => F) H) as [ws [J R]]. eapply S; eauto.
  - intros [_ [V [L H]]] k K. rewrite forallb_forall in O. specialize (O k K).
    destruct (get P k) as [r|] eqn:G; [|discriminate]. apply get_spec in G. destruct G as [G _].
    exists r. split; auto. intros T.
    assert (H' : violates_only P (remove Nat.eq_dec k V) x).
    { intros j s J N. destruct (Nat.eq_dec j k) as [D|D].
      - subst j. destruct J as [_ J], G as [_ G]. rewrite G in J. injection J as <-. assumption.
      - apply (H j s J). intros Q. apply N. apply in_in_remove; auto. }
    assert (L' : (length (remove Nat.eq_dec k V) <= q)%nat)
      by (assert (Q := remove_length_le Nat.eq_dec V k); lia).
    destruct (some_rests P _ x q [k] shared O L') with (2 := H') as [ws [J R]]; [|eapply S; eauto].
    intros v J [Q|[]]. subst v. apply (remove_In Nat.eq_dec V k J).
Qed.

(* 1. If a relaxed bound is accepted, every x of the prior that violates at most q rows is in the box that is returned,
      and satisfies each step.
   2. If relaxed emptiness is accepted, every x of the prior violates more than q rows.
   3. If a list of outliers is accepted, every x of the prior violates at least so many rows: any list that has the
      numbers of all violated rows is as long. And an x that violates at most q rows violates each of the outliers. *)
Theorem relaxed_sound :
  (forall P q shared steps b, check_relaxed_bound P q shared steps = Some b -> forall x, consistent_but P q x ->
    inside (sides b) x /\ forall s, In s steps -> rdot (direction s) x >= val (value s)) /\
  (forall P q shared steps, check_relaxed_empty P q shared steps = true -> forall x, ~ consistent_but P q x) /\
  (forall P at_least q outliers shared, check_violated P at_least q outliers shared = true ->
    forall x, inside (prior P) x ->
    (forall V, violates_only P V x -> (at_least <= length V)%nat) /\
    (consistent_but P q x -> forall k, In k outliers -> exists r, row_of P k r /\ ~ satisfies r x)).
Proof.
  split; [|split; [exact relaxed_empty_sound|exact violated_sound]].
  intros P q shared steps b E x C. destruct (relaxed_bound_sound _ _ _ _ _ E x C) as [[_ I] S]. split; auto.
  intros s J. apply Rle_ge. auto.
Qed.

(* An example: of |x| ≤ 1, |x| ≤ 1 and |5 − x| ≤ 1, one at least is violated, and if only one is, it is the third; then
   x ≤ 1. But it is not excluded that two are violated. *)
Example accepted_and_refused :
  let P := Problem [(None, None)] 3
    (fun k => Some (Equation [one] (match k with 2%nat => of_Z 5 | _ => zero end) one [])) in
  let pairs := [[(2%nat, one); (0%nat, neg one)]; [(2%nat, one); (1%nat, neg one)]] in
  let step := RelaxedStep [neg one] (neg one) [[(0%nat, neg one)]; [(1%nat, neg one)]] [] in
  check_violated P 1 1 [2%nat] pairs = true /\ check_violated P 2 1 [] pairs = false /\
  check_violated P 0 2 [2%nat] pairs = false /\ check_relaxed_empty P 0 pairs [] = true /\
  check_relaxed_empty P 1 pairs [] = false /\
  (exists b, check_relaxed_bound P 1 [] [step] = Some b) /\ check_relaxed_bound P 2 [] [step] = None.
Proof. repeat split; try eexists; vm_compute; reflexivity. Qed.

Print Assumptions relaxed_sound.
