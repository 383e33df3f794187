(* Hitting sets: no q elements meet every set of a family. Proofs about outliers depend on it.

   [no_cover sets q spared] searches through all choices; [no_cover_spec] says what a true answer is worth. A false
   answer says nothing: there may be such elements, or too many choices to go through. *)
Require Import NArith List Bool Arith Lia FMapPositive.
Import ListNotations.

(* Elements are numbers of rows or of poses. Within the search they are numbered anew, without gaps, so that a set is a
   short bit mask; two elements that got the same number by mistake could only make the answer false. *)

(* A set: the numbers of its elements, and the mask that has their bits. *)
Definition masked : Type := (list N * N)%type.

Definition has (m : N) (v : N) : bool := N.testbit m v.
Definition mask_of (vs : list N) : N := fold_left N.setbit vs 0%N.

(* More than n of the sets need an element each, in addition to elements of [seen]: these sets have no element in
   common, nor with [seen], but those that are spared. A set without any other element cannot be met at all. *)
Fixpoint apart (sets : list masked) (spared seen : N) (n : nat) : bool :=
  match sets with
  | [] => false
  | (_, m) :: rest =>
      if N.eqb (N.land m seen) 0 then
        let free := N.ldiff m spared in
        if N.eqb free 0 then true
        else match n with O => true | S n' => apart rest spared (N.lor seen free) n' end
      else apart rest spared seen n
  end.

Definition without (v : N) (sets : list masked) : list masked := filter (fun s => negb (has (snd s) v)) sets.

(* No choice of at most [budget] elements, none of them spared, meets all the sets. Some set is met by one of its
   elements: the first; or not by the first, but by the second; and so on. [left] is how many cases may still be looked
   at; the result is what remains of it, and None if nothing is proven. *)
Fixpoint leaves_none (budget : nat) (sets : list masked) (spared : N) (left : N) {struct budget} : option N :=
  if N.eqb left 0 then None
  else if apart sets spared 0 budget then Some (N.pred left)
  else match sets, budget with
  | (vs, _) :: _, S less =>
      (fix try (vs : list N) (spared left : N) {struct vs} : option N :=
        match vs with
        | [] => Some left
        | v :: rest =>
            if has spared v then try rest spared left
            else match leaves_none less (without v sets) spared left with
                 | Some left' => try rest (N.setbit spared v) left'
                 | None => None
                 end
        end) vs spared (N.pred left)
  | _, _ => None
  end.

Definition most_cases : N := 1000000.

(* The numbering: a map from elements to their numbers. *)
Fixpoint number (m : PositiveMap.t N) (next : N) (elements : list nat) : PositiveMap.t N * N :=
  match elements with
  | [] => (m, next)
  | e :: rest =>
      match PositiveMap.find (Pos.of_succ_nat e) m with
      | Some _ => number m next rest
      | None => number (PositiveMap.add (Pos.of_succ_nat e) next m) (N.succ next) rest
      end
  end.

Fixpoint number_all (m : PositiveMap.t N) (next : N) (sets : list (list nat)) : PositiveMap.t N :=
  match sets with
  | [] => m
  | s :: rest => let '(m', next') := number m next s in number_all m' next' rest
  end.

Definition place (m : PositiveMap.t N) (e : nat) : N :=
  match PositiveMap.find (Pos.of_succ_nat e) m with Some v => v | None => 0%N end.

Definition prepared (m : PositiveMap.t N) (s : list nat) : masked :=
  let vs := map (place m) s in (vs, mask_of vs).

(* No choice of at most q elements, none of them spared, meets all the sets. *)
Definition no_cover (sets : list (list nat)) (q : nat) (spared : list nat) : bool :=
  let free := map (filter (fun e => negb (existsb (Nat.eqb e) spared))) sets in
  let m := number_all (PositiveMap.empty N) 0 free in
  match leaves_none q (map (prepared m) free) 0 most_cases with Some _ => true | None => false end.

(* Why it is true --------------------------------------------------------------------------------------------------- *)

(* The mask is right. *)
Definition proper (s : masked) : Prop := forall v, has (snd s) v = true <-> In v (fst s).

Definition meets (V : list N) (s : masked) : Prop := exists v, In v V /\ In v (fst s).
Definition avoids (V : list N) (spared : N) : Prop := forall v, In v V -> has spared v = false.

Lemma mask_of_spec vs v : has (mask_of vs) v = true <-> In v vs.
Proof.
  unfold mask_of, has.
  assert (K : forall m, N.testbit (fold_left N.setbit vs m) v = true <-> N.testbit m v = true \/ In v vs).
  { induction vs as [|w vs IH]; intros m; simpl; [tauto|]. rewrite IH, N.setbit_iff.
    split; intros [H|H]; auto; destruct H; auto. }
  rewrite K, N.bits_0. split; [intros [H|H]; [discriminate|assumption]|auto].
Qed.

Lemma land_0 a b v : N.land a b = 0%N -> N.testbit a v = true -> N.testbit b v = false.
Proof.
  intros H A. assert (K : N.testbit (N.land a b) v = false) by (rewrite H; apply N.bits_0).
  rewrite N.land_spec, A in K. exact K.
Qed.

(* Elements of V that are not seen. *)
Definition unseen (seen : N) (V : list N) : list N := filter (fun v => negb (has seen v)) V.

Lemma unseen_less seen more V : length (unseen (N.lor seen more) V) <= length (unseen seen V).
Proof.
  unfold unseen, has. induction V as [|v V IH]; simpl; auto. rewrite N.lor_spec.
  destruct (N.testbit seen v), (N.testbit more v); simpl; lia.
Qed.

Lemma unseen_fewer seen more V v : In v V -> has seen v = false -> has more v = true ->
  length (unseen (N.lor seen more) V) < length (unseen seen V).
Proof.
  intros I S M. induction V as [|w V IH]; [contradiction|].
  assert (L := unseen_less seen more V). destruct I as [I|I].
  - subst w. unfold unseen, has in *. cbn [filter]. rewrite N.lor_spec, S, M. simpl. lia.
  - specialize (IH I). unfold unseen, has in *. cbn [filter]. rewrite N.lor_spec.
    destruct (N.testbit seen w), (N.testbit more w); simpl; lia.
Qed.

Lemma unseen_length seen V : length (unseen seen V) <= length V.
Proof. unfold unseen. induction V as [|v V IH]; simpl; auto. destruct (has seen v); simpl; lia. Qed.

Lemma apart_spec V sets : forall spared seen n, Forall proper sets -> avoids V spared -> Forall (meets V) sets ->
  apart sets spared seen n = true -> n < length (unseen seen V).
Proof.
  induction sets as [|[vs m] sets IH]; intros spared seen n P A M E; simpl in E; [discriminate|].
  inversion P as [|s t P1 P2]; subst. inversion M as [|s t [v [I J]] M2]; subst.
  destruct (N.eqb_spec (N.land m seen) 0) as [L|L]; [|eapply IH; eauto].
  apply P1 in J. simpl in J. unfold has in J.
  assert (S : has seen v = false) by (eapply land_0; eauto).
  assert (F : has (N.ldiff m spared) v = true).
  { unfold has. rewrite N.ldiff_spec, J. assert (T := A v I). unfold has in T. rewrite T. reflexivity. }
  destruct (N.eqb_spec (N.ldiff m spared) 0) as [Z|Z].
  { unfold has in F. rewrite Z, N.bits_0 in F. discriminate. }
  assert (U := unseen_fewer seen _ V v I S F).
  destruct n as [|n]; [lia|]. assert (K := IH _ _ _ P2 A M2 E). lia.
Qed.

Lemma remove_shorter (v : N) V : In v V -> length (remove N.eq_dec v V) < length V.
Proof. apply remove_length_lt. Qed.

Lemma proper_without v sets : Forall proper sets -> Forall proper (without v sets).
Proof.
  unfold without. intros H. apply Forall_forall. intros s I. apply filter_In in I. destruct I as [I _].
  rewrite Forall_forall in H. auto.
Qed.

(* Without v, V still meets the sets that do not have v. *)
Lemma meets_without v V sets : Forall proper sets -> Forall (meets V) sets ->
  Forall (meets (remove N.eq_dec v V)) (without v sets).
Proof.
  intros P M. apply Forall_forall. intros s I. unfold without in I. apply filter_In in I. destruct I as [I F].
  apply negb_true_iff in F. rewrite Forall_forall in P, M. destruct (M s I) as [w [W1 W2]]. exists w. split; auto.
  apply in_in_remove; auto. intros ->. apply (P s I) in W2. congruence.
Qed.

Lemma leaves_none_spec budget : forall sets spared left left' V, Forall proper sets ->
  leaves_none budget sets spared left = Some left' -> length V <= budget -> avoids V spared ->
  ~ Forall (meets V) sets.
Proof.
  induction budget as [|less IH]; intros sets spared left left' V P E L A M; simpl in E;
    destruct (N.eqb left 0); try discriminate.
  - destruct (apart sets spared 0 0) eqn:Q.
    + assert (K := apart_spec _ _ _ _ _ P A M Q).
      assert (T := unseen_length 0 V). lia.
    + destruct sets as [|[vs m] sets]; discriminate.
  - destruct (apart sets spared 0 (S less)) eqn:Q.
    + assert (K := apart_spec _ _ _ _ _ P A M Q).
      assert (T := unseen_length 0 V). lia.
    + destruct sets as [|[vs m] rest]; [discriminate|]. set (sets := (vs, m) :: rest) in *.
      (* one of the elements of vs is in V, but each is excluded *)
      assert (K : forall us spared left, avoids V spared ->
        (fix try (us : list N) (spared left : N) {struct us} : option N :=
          match us with
          | [] => Some left
          | v :: rest =>
              if has spared v then try rest spared left
              else match leaves_none less (without v sets) spared left with
                   | Some left' => try rest (N.setbit spared v) left'
                   | None => None
                   end
          end) us spared left = Some left' -> forall v, In v us -> ~ In v V).
      { induction us as [|u us IHu]; intros sp lf A' E' v I J; [contradiction|].
        assert (N1 : has sp u = false -> ~ In u V).
        { intros H U. rewrite H in E'. destruct (leaves_none less (without u sets) sp lf) as [l1|] eqn:F; [|discriminate].
          apply (IH _ _ _ _ (remove N.eq_dec u V) (proper_without u _ P) F).
          - assert (T := remove_shorter u V U). lia.
          - intros w W. apply A'. apply in_remove in W. apply W.
          - apply meets_without; auto. }
        destruct (has sp u) eqn:H.
        - destruct I as [I|I]; [subst v; rewrite (A' u J) in H; discriminate|]. eapply IHu; eauto.
        - destruct (leaves_none less (without u sets) sp lf) as [l1|] eqn:F; [|discriminate].
          destruct I as [I|I]; [subst v; apply N1; auto|].
          refine (IHu _ _ _ E' v I J). intros w W. unfold has. destruct (N.eq_dec u w) as [D|D].
          + subst w. exfalso. apply N1; auto.
          + rewrite N.setbit_neq by assumption. apply A', W. }
      assert (M1 := M). unfold sets in M1. inversion M1 as [|s t [v [V1 V2]] M2]; subst. simpl in V2.
      exact (K vs spared _ A E v V2 V1).
Qed.

(* For every choice V of at most q elements, none of them spared, some of the sets has no element of V. *)
Theorem no_cover_spec sets q spared : no_cover sets q spared = true ->
  forall V, length V <= q -> (forall v, In v V -> ~ In v spared) ->
  exists s, In s sets /\ forall v, In v V -> ~ In v s.
Proof.
  intros E V L A.
  destruct (existsb (fun s => negb (existsb (fun v => existsb (Nat.eqb v) s) V)) sets) eqn:X.
  - apply existsb_exists in X. destruct X as [s [I N]]. exists s. split; auto. intros v J K.
    apply negb_true_iff in N. assert (T : existsb (fun v => existsb (Nat.eqb v) s) V = true); [|congruence].
    apply existsb_exists. exists v. split; auto. apply existsb_exists. exists v. split; auto. apply Nat.eqb_refl.
  - exfalso. unfold no_cover in E. set (free := map _ sets) in E. set (m := number_all _ _ free) in E.
    destruct (leaves_none q (map (prepared m) free) 0 most_cases) as [l|] eqn:F; [|discriminate].
    apply (leaves_none_spec _ _ _ _ _ (map (place m) V)) in F; [apply F| |rewrite map_length; assumption|].
    + apply Forall_forall. intros t T. apply in_map_iff in T. destruct T as [u [<- U]].
      unfold free in U. apply in_map_iff in U. destruct U as [s [<- S]].
      assert (H : existsb (fun v => existsb (Nat.eqb v) s) V = true).
      { destruct (existsb (fun v => existsb (Nat.eqb v) s) V) eqn:H; auto. exfalso.
        assert (T : existsb (fun s => negb (existsb (fun v => existsb (Nat.eqb v) s) V)) sets = true); [|congruence].
        apply existsb_exists. exists s. rewrite H. auto. }
      apply existsb_exists in H. destruct H as [v [J H]]. apply existsb_exists in H. destruct H as [w [K H]].
      apply Nat.eqb_eq in H. subst w. exists (place m v). unfold prepared; simpl. split; [apply in_map; assumption|].
      apply in_map. apply filter_In. split; auto. apply negb_true_iff.
      destruct (existsb (Nat.eqb v) spared) eqn:Q; auto. apply existsb_exists in Q. destruct Q as [w [Q1 Q2]].
      apply Nat.eqb_eq in Q2. subst w. exfalso. apply (A v J Q1).
    + apply Forall_forall. intros t T. apply in_map_iff in T. destruct T as [u [<- U]]. intros v. unfold prepared; simpl.
      apply mask_of_spec.
    + intros v _. unfold has. apply N.bits_0.
Qed.

Print Assumptions no_cover_spec.
