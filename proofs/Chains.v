(* Certificates about chains: legs of Gough platforms, and chains that close over rods. Mirrors checker/chain_check.py.

   A question has some chains with their numbers, what was measured of each, and a prior: bounds of all unknowns. A
   certificate is about some of the chains.

   What "consistent" means. Unknowns x, a list for each chain, are consistent ([consistent]) if they are within the
   prior, if each chain satisfies its conditions, and if for every pose there are errors of the pose with which every
   chain fits ([fits_pose]); the errors of a pose are the same for all these chains, the error of its reading is each
   chain's own. What it means that a chain fits a pose is stated in Legs.v ([fits_with]) and Rods.v ([rod_fits]).

   Theorems: [check_bound_sound], [check_empty_sound], [check_outliers_sound] and [check_witness_sound], for any kind of
   chain; then for legs and for rods. *)
Require Import ZArith Reals Lra Lia List Bool Arith.
Require Import Gough.Num Gough.Rows Gough.Boxes.
Require Gough.Covers Gough.Legs Gough.Rods.
Import ListNotations.
Local Open Scope R_scope.

(* Shapes ----------------------------------------------------------------------------------------------------------- *)

(* A list in pieces of given sizes, which must use it up. *)
Fixpoint pieces {A} (sizes : list nat) (l : list A) : option (list (list A)) :=
  match sizes with
  | [] => match l with [] => Some [] | _ => None end
  | n :: sizes' =>
      let p := firstn n l in
      if Nat.eqb (length p) n then match pieces sizes' (skipn n l) with Some ps => Some (p :: ps) | None => None end
      else None
  end.

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | n :: l' => negb (existsb (Nat.eqb n) l') && distinct l' end.

Fixpoint index (n : nat) (l : list nat) (i : nat) : option nat :=
  match l with [] => None | m :: l' => if Nat.eqb n m then Some i else index n l' (S i) end.

Definition equal (a b : num) : bool := le a b && le b a.

Fixpoint same {A} (eq : A -> A -> bool) (l m : list A) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => eq a b && same eq l' m'
  | _, _ => false
  end.

Lemma Forall2_impl {A B} (P Q : A -> B -> Prop) l m : (forall a b, P a b -> Q a b) -> Forall2 P l m -> Forall2 Q l m.
Proof. intros H. induction 1; constructor; auto. Qed.

(* What is required of cuts and stages besides what is proven. None of it matters to the proofs. *)
Definition good_cut (t : cut) : bool :=
  match cside t with Empty => is_zero (cbound t) | _ => true end && distinct (map fst (weights t)) &&
  forallb (fun w => negb (is_neg (snd w))) (weights t).

Fixpoint good_links (ls : links) : bool :=
  match ls with
  | Done => true
  | Stage center radius _ cuts rest =>
      Nat.eqb (length center) (length radius) && negb (Nat.eqb (length center) 0) &&
      forallb (fun r => negb (is_neg r)) radius && forallb good_cut cuts && good_links rest
  | Split _ _ _ below above rest => good_links below && good_links above && good_links rest
  end.

(* Any kind of chain ------------------------------------------------------------------------------------------------ *)

Section Kind.
Variable data : Type.                                  (* what was measured of a chain *)
Variable good : data -> bool.
Variable chain_of : data -> num -> chain.              (* readings may be off by so much more than stated *)
Variable meaning_of : data -> num -> meaning.
Hypothesis chain_sound : forall d more, good d = true -> sound (chain_of d more) (meaning_of d more).

Variable compatible : data -> data -> bool.            (* two chains of one question *)
Variable good_prior : data -> list (num * num) -> bool.

(* Do exhibited values fit pose k, with these errors of the pose, or (None) for some errors? Do they meet conditions? *)
Variable shows : data -> num -> nat -> list num -> option (list num) -> bool.
Variable errors_of : list num -> list R.
Hypothesis shows_sound : forall d more k x shown, good d = true -> shows d more k x shown = true ->
  exists e, fits (meaning_of d more) k e (map val x) /\ forall v, shown = Some v -> e = errors_of v.
Variable must_show : bool.
Variable meets_exactly : data -> list num -> bool.
Hypothesis meets_sound : forall d more x, meets_exactly d x = true -> meets (meaning_of d more) (map val x).

(* The numbers of the chains, their data, and the sides of the prior, chain after chain. *)
Record question := Question { numbers : list nat; measured : list data; lower : list num; upper : list num }.

Definition chains_of (more : num) (ds : list data) : list chain := map (fun d => chain_of d more) ds.
Definition meanings_of (more : num) (ds : list data) : list meaning := map (fun d => meaning_of d more) ds.

Definition prior_of (q : question) : option box :=
  if Nat.eqb (length (lower q)) (length (upper q)) then
    pieces (map n_unknowns (chains_of zero (measured q))) (combine (lower q) (upper q))
  else None.

Fixpoint good_priors (ds : list data) (b : box) : bool :=
  match ds, b with
  | [], [] => true
  | d :: ds', sides :: b' => good_prior d sides && good_priors ds' b'
  | _, _ => false
  end.

(* What is required of a question: chains have different numbers from 1 on and shared errors with the same tolerances;
   each of them is as it should be; the prior is not empty. *)
Definition good_question (q : question) (b : box) : bool :=
  let cs := chains_of zero (measured q) in
  distinct (numbers q) && forallb (fun n => Nat.ltb 0 n) (numbers q) &&
  Nat.eqb (length (numbers q)) (length (measured q)) && forallb good (measured q) && negb (crossed b) &&
  good_priors (measured q) b &&
  match measured q, cs with
  | d :: ds, c :: cs' =>
      forallb (compatible d) ds && forallb (fun c' => same (same equal) (tolerances c) (tolerances c')) cs'
  | _, _ => false
  end.

(* The data of chosen chains, and their prior. *)
Fixpoint choose (q : question) (b : box) (chosen : list nat) : option (list data * box) :=
  match chosen with
  | [] => Some ([], [])
  | n :: chosen' =>
      match index n (numbers q) 0, choose q b chosen' with
      | Some i, Some (ds, bs) =>
          match nth_error (measured q) i, nth_error b i with
          | Some d, Some sides => Some (d :: ds, sides :: bs)
          | _, _ => None
          end
      | _, _ => None
      end
  end.

Definition n_poses_of (cs : list chain) : nat := match cs with c :: _ => n_poses c | [] => O end.

(* The chains that a certificate is about, and their prior. *)
Definition space_of (q : question) (chosen : list nat) (more : num) : option (list data * box) :=
  match prior_of q with
  | None => None
  | Some b =>
      match choose q b chosen with
      | Some ((_ :: _) as ds, bs) =>
          let cs := chains_of more ds in
          if good_question q b && distinct chosen && forallb good ds &&
             forallb (fun c => Nat.eqb (n_poses c) (n_poses_of cs)) cs
          then Some (ds, bs) else None
      | _ => None
      end
  end.

(* Some errors of pose k serve all chains. *)
Definition fits_pose (more : num) (ds : list data) (x : list (list R)) (k : nat) : Prop :=
  exists e, forall c m xc,
    nth_error (meanings_of more ds) c = Some m -> nth_error x c = Some xc -> fits m k e xc.

(* Each chain satisfies its conditions. *)
Definition meets_all (more : num) (ds : list data) (x : list (list R)) : Prop := all_meet (meanings_of more ds) x.

(* The number of poses *)
Definition n_measured (more : num) (ds : list data) : nat := n_poses_of (chains_of more ds).

Definition consistent (more : num) (ds : list data) (b : box) (x : list (list R)) : Prop :=
  inside b x /\ meets_all more ds x /\ forall k, (k < n_measured more ds)%nat -> fits_pose more ds x k.

(* Bounds ----------------------------------------------------------------------------------------------------------- *)

(* What links leave of the prior: None if they do not prove it, Some None if nothing. *)
Definition check_bound (q : question) (chosen : list nat) (more : num) (ls : links) : option (option box) :=
  match space_of q chosen more with
  | None => None
  | Some (ds, b) =>
      let cs := chains_of more ds in
      match links_poses cs ls [] with
      | None => None
      | Some _ => if good_links ls then follow cs ls (Some b) else None
      end
  end.

Definition check_empty (q : question) (chosen : list nat) (more : num) (ls : links) : bool :=
  match ls with Done => false | _ => match check_bound q chosen more ls with Some None => true | _ => false end end.

Lemma space_sound q chosen more ds b : space_of q chosen more = Some (ds, b) ->
  Forall2 sound (chains_of more ds) (meanings_of more ds) /\
  forall c, In c (chains_of more ds) -> n_poses c = n_measured more ds.
Proof.
  unfold space_of. destruct (prior_of q) as [p|]; [|discriminate].
  destruct (choose q p chosen) as [[[|d0 l] bs]|]; try discriminate. cbv zeta.
  set (ds' := d0 :: l). destruct (_ && _) eqn:G; [|discriminate]. intros H. injection H as <- <-.
  repeat rewrite andb_true_iff in G. destruct G as [[_ G] N]. split.
  - unfold chains_of, meanings_of. clear N. clearbody ds'. induction ds' as [|d ds IH]; simpl; constructor.
    + apply chain_sound. simpl in G. apply andb_true_iff in G. apply G.
    + apply IH. simpl in G. apply andb_true_iff in G. apply G.
  - intros c C. rewrite forallb_forall in N. apply N in C. apply Nat.eqb_eq in C. exact C.
Qed.

(* Poses that rows are about are among those that were measured. *)
Lemma pose_at_measured cs n number k : (forall c, In c cs -> n_poses c = n) ->
  pose_at cs number = Some (Some k) -> (k < n)%nat.
Proof.
  intros N H. unfold pose_at in H. destruct (locate cs number 0) as [[i own]|]; [|discriminate].
  destruct (nth_error cs i) as [c|] eqn:C; [|discriminate]. apply nth_error_In in C. apply N in C.
  injection H as H. unfold pose_of in H. destruct (which_row_of c own) as [j fb|]; [|discriminate].
  destruct (Nat.ltb j (n_poses c)) eqn:L; [|discriminate]. injection H as <-. apply Nat.ltb_lt in L. lia.
Qed.

Lemma add_new_or k l j : In j (add_new k l) -> j = k \/ In j l.
Proof. unfold add_new. destruct (existsb (Nat.eqb k) l); [auto|]. intros [H|H]; auto. Qed.

Lemma weights_measured cs n ws : (forall c, In c cs -> n_poses c = n) -> forall poses r,
  weights_poses cs ws poses = Some r -> (forall k, In k poses -> (k < n)%nat) -> forall k, In k r -> (k < n)%nat.
Proof.
  intros N. induction ws as [|[number w] ws IH]; intros poses r H P; simpl in H; [injection H as <-; exact P|].
  destruct (is_zero w); [eauto|]. destruct (pose_at cs number) as [[k|]|] eqn:A; [|eauto|discriminate].
  eapply IH; eauto. intros j J. apply add_new_or in J. destruct J as [->|J]; [|auto].
  eapply pose_at_measured; eauto.
Qed.

Lemma cuts_measured cs n cuts : (forall c, In c cs -> n_poses c = n) -> forall poses r,
  cuts_poses cs cuts poses = Some r -> (forall k, In k poses -> (k < n)%nat) -> forall k, In k r -> (k < n)%nat.
Proof.
  intros N. induction cuts as [|t cuts IH]; intros poses r H P; simpl in H; [injection H as <-; exact P|].
  destruct (weights_poses cs (weights t) poses) as [p|] eqn:W; [|discriminate].
  eapply IH; eauto. eapply weights_measured; eauto.
Qed.

Lemma chains_at_in space places : forall cs, chains_at space places = Some cs -> incl cs space.
Proof.
  induction places as [|p places IH]; intros cs H; simpl in H; [injection H as <-; intros ? []|].
  destruct (nth_error space p) as [c|] eqn:C; [|discriminate].
  destruct (chains_at space places) as [cs'|]; [|discriminate]. injection H as <-.
  intros j [<-|J]; [eapply nth_error_In; eauto|]. apply (IH cs' eq_refl _ J).
Qed.

Lemma links_measured_from cs n ls : (forall c, In c cs -> n_poses c = n) -> forall poses r,
  links_poses cs ls poses = Some r -> (forall k, In k poses -> (k < n)%nat) -> forall k, In k r -> (k < n)%nat.
Proof.
  intros N. induction ls as [|center radius who cuts rest IH|c i v below IB above IA rest IR]; intros poses r H P;
    simpl in H.
  - injection H as <-. exact P.
  - destruct (chains_at cs (places_of cs who)) as [cs'|] eqn:C; [|discriminate].
    destruct (cuts_poses cs' cuts poses) as [p|] eqn:Q; [|discriminate].
    assert (N' : forall c, In c cs' -> n_poses c = n) by (intros c' C'; apply N; eapply chains_at_in; eauto).
    exact (IH p r H (cuts_measured cs' n cuts N' poses p Q P)).
  - destruct (links_poses cs below poses) as [p|] eqn:B; [|discriminate].
    destruct (links_poses cs above p) as [q|] eqn:A; [|discriminate].
    exact (IR q r H (IA p q A (IB poses p B P))).
Qed.

Lemma links_measured cs n ls used k : (forall c, In c cs -> n_poses c = n) -> links_poses cs ls [] = Some used ->
  In k used -> (k < n)%nat.
Proof. intros N H. apply (links_measured_from cs n ls N [] used H). intros ? []. Qed.

(* Finitely many errors are chosen at once. *)
Lemma chosen_errors (P : nat -> list R -> Prop) n : (forall k, (k < n)%nat -> exists e, P k e) ->
  exists E, forall k, (k < n)%nat -> P k (E k).
Proof.
  induction n as [|n IH]; intros H; [exists (fun _ => []); intros k K; lia|].
  destruct IH as [E HE]; [auto|]. destruct (H n ltac:(lia)) as [e He].
  exists (fun k => if Nat.eqb k n then e else E k). intros k K. destruct (Nat.eqb_spec k n) as [->|D]; [assumption|].
  apply HE. lia.
Qed.

(* What links leave holds what is within the prior, meets the conditions and fits the poses that they use. *)
Lemma follow_fits q chosen more ds b ls used r x : space_of q chosen more = Some (ds, b) ->
  links_poses (chains_of more ds) ls [] = Some used -> follow (chains_of more ds) ls (Some b) = Some r ->
  inside b x -> meets_all more ds x -> (forall k, In k used -> fits_pose more ds x k) -> left_of x r.
Proof.
  intros S P F I M H. apply space_sound in S. destruct S as [S N].
  destruct (chosen_errors (fun k e => In k used -> forall c m xc, nth_error (meanings_of more ds) c = Some m ->
    nth_error x c = Some xc -> fits m k e xc) (n_measured more ds)) as [E HE].
  { intros k _. destruct (in_dec Nat.eq_dec k used) as [K|K]; [|exists []; tauto].
    destruct (H k K) as [e He]. exists e. auto. }
  eapply (follow_sound (chains_of more ds) (meanings_of more ds) S x E M ls (Some b)); eauto.
  intros k K. unfold all_fit. apply HE; [|assumption]. eapply links_measured; eauto.
Qed.

(* Theorem. Every consistent geometry is in the box that the certificate ends with. *)
Theorem check_bound_sound q chosen more ls ds b r : space_of q chosen more = Some (ds, b) ->
  check_bound q chosen more ls = Some r -> forall x, consistent more ds b x -> left_of x r.
Proof.
  intros S H x (I & M & F). unfold check_bound in H. rewrite S in H.
  destruct (links_poses (chains_of more ds) ls []) as [used|] eqn:P; [|discriminate].
  destruct (good_links ls); [|discriminate]. eapply follow_fits; eauto.
  intros k K. apply F. apply space_sound in S. destruct S as [_ N]. eapply links_measured; eauto.
Qed.

(* Theorem. There is no consistent geometry. *)
Theorem check_empty_sound q chosen more ls ds b : space_of q chosen more = Some (ds, b) ->
  check_empty q chosen more ls = true -> forall x, ~ consistent more ds b x.
Proof.
  intros S H x C. assert (K : check_bound q chosen more ls = Some None).
  { unfold check_empty in H. destruct ls; try discriminate;
      destruct (check_bound q chosen more _) as [[?|]|]; congruence. }
  exact (check_bound_sound _ _ _ _ _ _ _ S K x C).
Qed.

(* Outliers --------------------------------------------------------------------------------------------------------- *)

(* The poses that a contradiction uses; None if it is none. *)
Definition contradiction_poses (cs : list chain) (b : box) (ls : links) : option (list nat) :=
  match ls, links_poses cs ls [] with
  | Done, _ => None
  | _, Some used =>
      if good_links ls then match follow cs ls (Some b) with Some None => Some used | _ => None end else None
  | _, None => None
  end.

Fixpoint all_poses (cs : list chain) (b : box) (contradictions : list links) : option (list (list nat)) :=
  match contradictions with
  | [] => Some []
  | ls :: rest =>
      match contradiction_poses cs b ls, all_poses cs b rest with
      | Some used, Some sets => Some (used :: sets)
      | _, _ => None
      end
  end.

(* At least [at_least] poses are missed; if at most [few] are, all of [outliers] are among them. *)
Definition check_outliers (q : question) (chosen : list nat) (more : num) (at_least few : nat) (outliers : list nat)
    (contradictions : list links) : bool :=
  match space_of q chosen more with
  | None => false
  | Some (ds, b) =>
      let cs := chains_of more ds in
      match contradictions, all_poses cs b contradictions with
      | _ :: _, Some sets =>
          distinct outliers && (negb (Nat.eqb at_least 0) || negb (Nat.eqb (length outliers) 0)) &&
          (Nat.eqb at_least 0 || Covers.no_cover sets (Nat.pred at_least) []) &&
          forallb (fun pose => Nat.ltb pose (n_poses_of cs) && Covers.no_cover sets few [pose]) outliers
      | _, _ => false
      end
  end.

Lemma all_poses_spec cs b contradictions : forall sets, all_poses cs b contradictions = Some sets ->
  forall used, In used sets -> exists ls, links_poses cs ls [] = Some used /\ follow cs ls (Some b) = Some None.
Proof.
  induction contradictions as [|ls rest IH]; intros sets H used U; simpl in H; [injection H as <-; destruct U|].
  destruct (contradiction_poses cs b ls) as [p|] eqn:C; [|discriminate].
  destruct (all_poses cs b rest) as [sets'|]; [|discriminate]. injection H as <-. destruct U as [<-|U]; [|eauto].
  exists ls. unfold contradiction_poses in C.
  destruct ls; [discriminate| |]; (destruct (links_poses cs _ []) as [u|]; [|discriminate]);
    (destruct (good_links _); [|discriminate]); destruct (follow cs _ (Some b)) as [[?|]|]; try discriminate;
    injection C as ->; auto.
Qed.

(* Theorem. Let a geometry within the prior meet the conditions and fit every pose that is not among [missed]. Then
   [missed] are at least [at_least]; and if they are at most [few], every outlier is among them. *)
Theorem check_outliers_sound q chosen more at_least few outliers contradictions ds b :
  space_of q chosen more = Some (ds, b) ->
  check_outliers q chosen more at_least few outliers contradictions = true ->
  forall x missed, inside b x -> meets_all more ds x ->
  (forall k, (k < n_measured more ds)%nat -> ~ In k missed -> fits_pose more ds x k) ->
  (at_least <= length missed)%nat /\
  ((length missed <= few)%nat -> forall pose, In pose outliers -> In pose missed).
Proof.
  intros S H x missed I M F. unfold check_outliers in H. rewrite S in H. cbv zeta in H.
  destruct contradictions as [|l0 rest]; [discriminate|].
  destruct (all_poses (chains_of more ds) b (l0 :: rest)) as [sets|] eqn:A; [|discriminate].
  repeat rewrite andb_true_iff in H. destruct H as [[_ H1] H2].
  assert (None_escapes : forall used, In used sets -> ~ forall v, In v missed -> ~ In v used).
  { intros used U K. destruct (all_poses_spec _ _ _ _ A _ U) as (ls & P & Fo).
    apply (follow_fits q chosen more ds b ls used None x S P Fo I M).
    intros k J. apply F; [|intros Q; exact (K k Q J)].
    destruct (space_sound _ _ _ _ _ S) as [_ N]. eapply links_measured; eauto. }
  split.
  - destruct (Nat.le_gt_cases at_least (length missed)) as [L|L]; [assumption|]. exfalso.
    apply orb_true_iff in H1. destruct H1 as [H1|H1]; [apply Nat.eqb_eq in H1; lia|].
    destruct (Covers.no_cover_spec _ _ _ H1 missed) as (used & U & K); [lia|intros ? ? []|].
    exact (None_escapes used U K).
  - intros L pose O. rewrite forallb_forall in H2. apply H2 in O. apply andb_true_iff in O. destruct O as [_ O].
    destruct (in_dec Nat.eq_dec pose missed) as [J|J]; [assumption|]. exfalso.
    destruct (Covers.no_cover_spec _ _ _ O missed L) as (used & U & K).
    + intros v V [<-|[]]. exact (J V).
    + exact (None_escapes used U K).
Qed.

(* Witnesses -------------------------------------------------------------------------------------------------------- *)

Definition holds_value (side : num * num) (v : num) : bool := le (fst side) v && le v (snd side).

Fixpoint within_sides {A B} (f : A -> B -> bool) (l : list A) (m : list B) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => f a b && within_sides f l' m'
  | _, _ => false
  end.

(* The errors of pose k that are shown: all of them, or none of a single chain whose kind need not show them. *)
Definition shown_errors (several : bool) (errors : list (list num)) (k : nat) : option (list num) :=
  if must_show || several || negb (Nat.eqb (length errors) 0) then Some (nth k errors []) else None.

Definition good_errors (several : bool) (tolerance : list (list num)) (errors : list (list num)) : bool :=
  match errors with
  | [] => negb (must_show || several) || forallb (fun t => Nat.eqb (length t) 0) tolerance
  | _ => within_sides (fun t e => Nat.eqb (length t) (length e)) tolerance errors
  end.

Definition check_witness (q : question) (chosen : list nat) (more : num) (values : list num)
    (errors : list (list num)) (left_out : list nat) : bool :=
  match space_of q chosen more with
  | None => false
  | Some (ds, b) =>
      let cs := chains_of more ds in
      let n := n_poses_of cs in
      let several := Nat.ltb 1 (length ds) in
      match pieces (map n_unknowns cs) values with
      | None => false
      | Some xs =>
          within_sides (within_sides holds_value) b xs && distinct left_out &&
          forallb (fun k => Nat.ltb k n) left_out &&
          good_errors several (match cs with c :: _ => tolerances c | [] => [] end) errors &&
          within_sides (fun d x =>
            let fit := shows d more in
            meets_exactly d x &&
            forallb (fun k => existsb (Nat.eqb k) left_out || fit k x (shown_errors several errors k)) (seq 0 n)) ds xs
      end
  end.

Lemma within_sides_spec {A B} (f : A -> B -> bool) l : forall m, within_sides f l m = true ->
  Forall2 (fun a b => f a b = true) l m.
Proof.
  induction l as [|a l IH]; intros [|b m] H; simpl in H; try discriminate; constructor;
    apply andb_true_iff in H; [|apply IH]; apply H.
Qed.

(* Every pose that is not left out is shown to fit. *)
Lemma witness_shows q chosen more values errors left_out ds b : space_of q chosen more = Some (ds, b) ->
  check_witness q chosen more values errors left_out = true ->
  exists xs, pieces (map n_unknowns (chains_of more ds)) values = Some xs /\
    Forall2 (fun sides v => within_sides holds_value sides v = true) b xs /\
    Forall2 (fun d v => meets_exactly d v = true /\
      forall k, (k < n_measured more ds)%nat -> ~ In k left_out ->
      shows d more k v (shown_errors (Nat.ltb 1 (length ds)) errors k) = true) ds xs.
Proof.
  intros S H. unfold check_witness in H. rewrite S in H. cbv zeta in H.
  destruct (pieces (map n_unknowns (chains_of more ds)) values) as [xs|]; [|discriminate]. exists xs.
  repeat rewrite andb_true_iff in H. destruct H as [[[[H1 _] _] _] H2].
  apply within_sides_spec in H1. apply within_sides_spec in H2. split; [reflexivity|]. split; [assumption|].
  eapply Forall2_impl; [|exact H2]. intros d v K. cbv beta in K. apply andb_true_iff in K. destruct K as [K1 K2].
  split; [assumption|]. intros k L O. rewrite forallb_forall in K2. specialize (K2 k). rewrite in_seq in K2.
  specialize (K2 ltac:(unfold n_measured in L; lia)). apply orb_true_iff in K2. destruct K2 as [K2|K2]; [|assumption].
  exfalso. apply O. apply existsb_exists in K2. destruct K2 as (j & J & E). apply Nat.eqb_eq in E. subst; assumption.
Qed.

(* Theorem. The exhibited geometry is within the prior, meets the conditions and fits every pose that is not left out.
   *)
Theorem check_witness_sound q chosen more values errors left_out ds b : space_of q chosen more = Some (ds, b) ->
  check_witness q chosen more values errors left_out = true ->
  exists xs, pieces (map n_unknowns (chains_of more ds)) values = Some xs /\
    let x := map (map val) xs in
    inside b x /\ meets_all more ds x /\
    forall k, (k < n_measured more ds)%nat -> ~ In k left_out -> fits_pose more ds x k.
Proof.
  intros S H. destruct (witness_shows _ _ _ _ _ _ _ _ S H) as (xs & P & H1 & H2). exists xs.
  split; [assumption|]. cbv zeta.
  assert (G : forall d, In d ds -> good d = true).
  { clear - S. unfold space_of in S. destruct (prior_of q) as [p|]; [|discriminate].
    destruct (choose q p chosen) as [[[|d0 l] bs]|]; try discriminate. cbv zeta in S.
    destruct (_ && _) eqn:G; [|discriminate]. injection S as <- <-.
    repeat rewrite andb_true_iff in G. destruct G as [[_ G] _]. apply forallb_forall. exact G. }
  assert (At : forall c m xc, nth_error (meanings_of more ds) c = Some m -> nth_error (map (map val) xs) c = Some xc ->
    exists d v, m = meaning_of d more /\ xc = map val v /\ nth_error ds c = Some d /\ nth_error xs c = Some v).
  { intros c m xc C X. unfold meanings_of in C. rewrite nth_error_map in C, X.
    destruct (nth_error ds c) as [d|]; [|discriminate]. destruct (nth_error xs c) as [v|]; [|discriminate].
    injection C as <-. injection X as <-. eauto 6. }
  assert (One : forall c d v, nth_error ds c = Some d -> nth_error xs c = Some v ->
    meets_exactly d v = true /\ forall k, (k < n_measured more ds)%nat -> ~ In k left_out ->
      shows d more k v (shown_errors (Nat.ltb 1 (length ds)) errors k) = true).
  { intros c d v D V. destruct (Forall2_nth_error _ _ _ H2 _ _ D) as (v' & V' & K). rewrite V in V'.
    injection V' as <-. exact K. }
  split; [|split].
  - unfold inside. clear - H1. induction H1 as [|sides v b xs K H IH]; simpl; constructor; [|assumption].
    apply within_sides_spec in K. clear - K. induction K as [|s u sides v K H IH]; simpl; constructor; [|assumption].
    unfold holds_value in K. apply andb_true_iff in K. destruct K as [K1 K2]. apply le_spec in K1, K2.
    split; assumption.
  - intros c m xc C X. destruct (At c m xc C X) as (d & v & -> & -> & D & V). apply meets_sound.
    exact (proj1 (One c d v D V)).
  - intros k K O. destruct (shown_errors (Nat.ltb 1 (length ds)) errors k) as [e|] eqn:Sh.
    + exists (errors_of e). intros c m xc C X. destruct (At c m xc C X) as (d & v & -> & -> & D & V).
      destruct (shows_sound d more k v (Some e) (G d (nth_error_In _ _ D))) as (e' & F & E).
      * rewrite <- Sh. exact (proj2 (One c d v D V) k K O).
      * rewrite <- (E e eq_refl). assumption.
    + (* nothing is shown: there is one chain *)
      assert (L : length ds = 1%nat).
      { unfold shown_errors in Sh. destruct (must_show || Nat.ltb 1 (length ds) || _) eqn:Q; [discriminate|].
        repeat rewrite orb_false_iff in Q. destruct Q as [[_ Q] _]. apply Nat.ltb_ge in Q.
        destruct ds as [|d [|]]; simpl in *; try lia. exfalso. clear - S.
        unfold space_of in S. destruct (prior_of q) as [p|]; [|discriminate].
        destruct (choose q p chosen) as [[[|d0 l] bs]|]; try discriminate. cbv zeta in S.
        destruct (_ && _); discriminate. }
      destruct ds as [|d [|]]; try discriminate. inversion H2 as [|? v ? ? _ H3]; subst. inversion H3; subst.
      destruct (shows_sound d more k v None (G d (or_introl eq_refl))) as (e & F & _).
      * rewrite <- Sh. exact (proj2 (One 0%nat d v eq_refl eq_refl) k K O).
      * exists e. intros [|c] m xc C X; simpl in *; [|destruct c; discriminate].
        injection C as <-. injection X as <-. assumption.
Qed.
End Kind.

(* Legs ------------------------------------------------------------------------------------------------------------- *)

(* The measured poses of a leg. *)
Definition leg_data := list Legs.pose.

Definition good_legs (poses : leg_data) : bool :=
  forallb Legs.proper poses && negb (Nat.eqb (length poses) 0).

Definition leg_chain_of (poses : leg_data) (more : num) : chain :=
  match Legs.leg_chain poses more with
  | Some c => c
  | None => Chain 7 [] 0 0 [] (fun _ _ _ _ => [])
  end.

Lemma leg_chain_sound poses more : good_legs poses = true ->
  sound (leg_chain_of poses more) (Legs.leg_meaning poses more).
Proof.
  intros G. unfold good_legs in G. apply andb_true_iff in G. destruct G as [G _]. unfold leg_chain_of.
  destruct (Legs.leg_chain poses more) as [c|] eqn:C; [exact (Legs.leg_sound _ _ _ C)|].
  unfold Legs.leg_chain in C. rewrite G in C. discriminate.
Qed.

Definition same_nvec (u v : Legs.nvec) : bool :=
  equal (Legs.n1 u) (Legs.n1 v) && equal (Legs.n2 u) (Legs.n2 v) && equal (Legs.n3 u) (Legs.n3 v).

(* Legs of one platform are measured in the same poses. *)
Definition same_poses (a b : leg_data) : bool :=
  same (fun p q =>
    equal (Legs.q0 p) (Legs.q0 q) && equal (Legs.q1 p) (Legs.q1 q) && equal (Legs.q2 p) (Legs.q2 q) &&
    equal (Legs.q3 p) (Legs.q3 q) && same_nvec (Legs.position p) (Legs.position q)) a b.

Definition leg_shows (poses : leg_data) (more : num) (k : nat) (x : list num) (shown : option (list num)) : bool :=
  match nth_error poses k, shown with
  | Some p, Some e => Legs.witness_fits p more x e
  | _, _ => false
  end.

Definition leg_errors (shown : list num) : list R :=
  let (delta, omega) := Legs.exhibited_errors shown in Legs.errors delta omega.

Lemma leg_shows_sound poses more k x shown : good_legs poses = true -> leg_shows poses more k x shown = true ->
  exists e, fits (Legs.leg_meaning poses more) k e (map val x) /\ forall v, shown = Some v -> e = leg_errors v.
Proof.
  intros G H. unfold leg_shows in H. destruct (nth_error poses k) as [p|] eqn:P; [|discriminate].
  destruct shown as [v|]; [|discriminate]. exists (leg_errors v). split; [|intros w W; injection W as <-; reflexivity].
  unfold good_legs in G. apply andb_true_iff in G. destruct G as [G _]. rewrite forallb_forall in G.
  assert (K := Legs.witness_meaning poses more k p x v P (G p (nth_error_In _ _ P)) H). unfold leg_errors.
  destruct (Legs.exhibited_errors v) as [delta omega]. exact K.
Qed.

Definition leg_question := question leg_data.
Definition legs_space := space_of leg_data good_legs leg_chain_of same_poses (fun _ _ => true).
Definition legs_bound := check_bound leg_data good_legs leg_chain_of same_poses (fun _ _ => true).
Definition legs_empty := check_empty leg_data good_legs leg_chain_of same_poses (fun _ _ => true).
Definition legs_outliers := check_outliers leg_data good_legs leg_chain_of same_poses (fun _ _ => true).
Definition legs_witness :=
  check_witness leg_data good_legs leg_chain_of same_poses (fun _ _ => true) leg_shows true (fun _ _ => true).

Definition legs_consistent := consistent leg_data leg_chain_of Legs.leg_meaning.
Definition legs_fit_pose := fits_pose leg_data Legs.leg_meaning.

(* In words: there are errors δ and ω of pose k with which every leg fits, each with its own error of the reading. *)
Theorem legs_fit_pose_is more ds x k : legs_fit_pose more ds x k <->
  exists delta omega, forall c poses xc, nth_error ds c = Some poses -> nth_error x c = Some xc ->
    exists p, nth_error poses k = Some p /\ Legs.fits_with p more (Legs.leg_of xc) delta omega.
Proof.
  unfold legs_fit_pose, fits_pose, meanings_of. split.
  - intros (e & H). exists (Vectors.Vec (nth 0 e 0) (nth 1 e 0) (nth 2 e 0)),
      (Vectors.Vec (nth 3 e 0) (nth 4 e 0) (nth 5 e 0)). intros c poses xc D X.
    destruct (H c (Legs.leg_meaning poses more) xc) as (p & delta & omega & P & -> & F); auto.
    { rewrite nth_error_map, D. reflexivity. }
    exists p. split; [assumption|]. destruct delta, omega. exact F.
  - intros (delta & omega & H). exists (Legs.errors delta omega). intros c m xc C X. rewrite nth_error_map in C.
    destruct (nth_error ds c) as [poses|] eqn:D; [|discriminate]. injection C as <-.
    destruct (H c poses xc D X) as (p & P & F). exists p, delta, omega. auto.
Qed.

Theorem legs_bound_sound q chosen more ls ds b r : legs_space q chosen more = Some (ds, b) ->
  legs_bound q chosen more ls = Some r -> forall x, legs_consistent more ds b x -> left_of x r.
Proof. apply check_bound_sound, leg_chain_sound. Qed.

Theorem legs_empty_sound q chosen more ls ds b : legs_space q chosen more = Some (ds, b) ->
  legs_empty q chosen more ls = true -> forall x, ~ legs_consistent more ds b x.
Proof. apply check_empty_sound, leg_chain_sound. Qed.

Lemma legs_meet more ds x : meets_all leg_data Legs.leg_meaning more ds x.
Proof.
  intros c m xc C _. unfold meanings_of in C. rewrite nth_error_map in C.
  destruct (nth_error ds c); [|discriminate]. injection C as <-. exact I.
Qed.

Theorem legs_outliers_sound q chosen more at_least few outliers contradictions ds b :
  legs_space q chosen more = Some (ds, b) ->
  legs_outliers q chosen more at_least few outliers contradictions = true ->
  forall x missed, inside b x ->
  (forall k, (k < n_measured leg_data leg_chain_of more ds)%nat -> ~ In k missed -> legs_fit_pose more ds x k) ->
  (at_least <= length missed)%nat /\
  ((length missed <= few)%nat -> forall pose, In pose outliers -> In pose missed).
Proof.
  intros S H x missed I. eapply (check_outliers_sound leg_data good_legs leg_chain_of Legs.leg_meaning leg_chain_sound);
    eauto using legs_meet.
Qed.

Theorem legs_witness_sound q chosen more values errors left_out ds b : legs_space q chosen more = Some (ds, b) ->
  legs_witness q chosen more values errors left_out = true ->
  exists xs, pieces (map n_unknowns (chains_of leg_data leg_chain_of more ds)) values = Some xs /\
    let x := map (map val) xs in
    inside b x /\
    forall k, (k < n_measured leg_data leg_chain_of more ds)%nat -> ~ In k left_out -> legs_fit_pose more ds x k.
Proof.
  intros S H. destruct (check_witness_sound leg_data good_legs leg_chain_of Legs.leg_meaning same_poses (fun _ _ =>
    true)
    leg_shows leg_errors leg_shows_sound true (fun _ _ => true) (fun _ _ _ _ => I) q chosen more values errors left_out
    ds b S H) as (xs & P & In' & _ & F). eauto.
Qed.

(* Rods ------------------------------------------------------------------------------------------------------------- *)

(* Readings of all chains have one unit. *)
Definition same_unit (a b : Rods.rod) : bool := Bool.eqb (Rods.turns a) (Rods.turns b).

(* The last unknown is a length: its prior is not negative. *)
Definition positive_length (r : Rods.rod) (sides : list (num * num)) : bool :=
  match nth_error sides (Nat.pred (Rods.n_of r)) with Some s => negb (is_neg (fst s)) | None => false end.

Definition rod_question := question Rods.rod.
Definition rods_space := space_of Rods.rod Rods.good_rod Rods.rod_chain same_unit positive_length.
Definition rods_bound := check_bound Rods.rod Rods.good_rod Rods.rod_chain same_unit positive_length.
Definition rods_empty := check_empty Rods.rod Rods.good_rod Rods.rod_chain same_unit positive_length.
Definition rods_outliers := check_outliers Rods.rod Rods.good_rod Rods.rod_chain same_unit positive_length.
Definition rods_witness := check_witness Rods.rod Rods.good_rod Rods.rod_chain same_unit positive_length
  Rods.rod_shows false Rods.rod_meets_exactly.

Definition rods_consistent := consistent Rods.rod Rods.rod_chain Rods.rod_meaning.
Definition rods_fit_pose := fits_pose Rods.rod Rods.rod_meaning.
Definition rods_meet := meets_all Rods.rod Rods.rod_meaning.

(* In words: there are errors e of pose k with which every chain fits, each with its own error of the reading and its own
   rest. *)
Theorem rods_fit_pose_is more ds x k : rods_fit_pose more ds x k <->
  exists e, forall c r xc, nth_error ds c = Some r -> nth_error x c = Some xc -> Rods.rod_fits r more k e xc.
Proof.
  unfold rods_fit_pose, fits_pose, meanings_of. split; intros (e & H); exists e.
  - intros c r xc D X. apply (H c (Rods.rod_meaning r more) xc); [|assumption]. rewrite nth_error_map, D. reflexivity.
  - intros c m xc C X. rewrite nth_error_map in C. destruct (nth_error ds c) as [r|] eqn:D; [|discriminate].
    injection C as <-. exact (H c r xc D X).
Qed.

Theorem rods_bound_sound q chosen more ls ds b r : rods_space q chosen more = Some (ds, b) ->
  rods_bound q chosen more ls = Some r -> forall x, rods_consistent more ds b x -> left_of x r.
Proof. apply check_bound_sound, Rods.rod_sound. Qed.

Theorem rods_empty_sound q chosen more ls ds b : rods_space q chosen more = Some (ds, b) ->
  rods_empty q chosen more ls = true -> forall x, ~ rods_consistent more ds b x.
Proof. apply check_empty_sound, Rods.rod_sound. Qed.

Theorem rods_outliers_sound q chosen more at_least few outliers contradictions ds b :
  rods_space q chosen more = Some (ds, b) ->
  rods_outliers q chosen more at_least few outliers contradictions = true ->
  forall x missed, inside b x -> rods_meet more ds x ->
  (forall k, (k < n_measured Rods.rod Rods.rod_chain more ds)%nat -> ~ In k missed -> rods_fit_pose more ds x k) ->
  (at_least <= length missed)%nat /\
  ((length missed <= few)%nat -> forall pose, In pose outliers -> In pose missed).
Proof. apply check_outliers_sound, Rods.rod_sound. Qed.

Theorem rods_witness_sound q chosen more values errors left_out ds b : rods_space q chosen more = Some (ds, b) ->
  rods_witness q chosen more values errors left_out = true ->
  exists xs, pieces (map n_unknowns (chains_of Rods.rod Rods.rod_chain more ds)) values = Some xs /\
    let x := map (map val) xs in
    inside b x /\ rods_meet more ds x /\
    forall k, (k < n_measured Rods.rod Rods.rod_chain more ds)%nat -> ~ In k left_out -> rods_fit_pose more ds x k.
Proof.
  apply check_witness_sound with (errors_of := map val).
  - exact Rods.rod_exhibited.
  - intros d more' x. apply Rods.rod_meets_exactly_spec.
Qed.

(* Theorem. More than that: whatever the rest ρ is in each pose, as a continuous function of the errors and within its
   bound, there are errors with which the exhibited chain fits; those of the pose are the errors that are shown, if any
   are. *)
Theorem rods_witness_whatever q chosen more values errors left_out ds b : rods_space q chosen more = Some (ds, b) ->
  rods_witness q chosen more values errors left_out = true ->
  exists xs, pieces (map n_unknowns (chains_of Rods.rod Rods.rod_chain more ds)) values = Some xs /\
    Forall2 (fun d v => forall k, (k < n_measured Rods.rod Rods.rod_chain more ds)%nat -> ~ In k left_out ->
      Rods.rod_fits_whatever d more k
        (option_map (map val) (shown_errors false (Nat.ltb 1 (length ds)) errors k)) (map val v)) ds xs.
Proof.
  intros S H. destruct (witness_shows _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ S H) as (xs & P & _ & F). exists xs.
  split; [assumption|]. eapply Forall2_impl; [|exact F]. intros d v [_ K] k L O.
  apply Rods.rod_exhibited_whatever. exact (K k L O).
Qed.

(* Examples: the statements are not empty, and what is proven depends on the data. A rod from (0, 0, z) to the origin,
   moved along z by the only error, a reading's, of at most 1/16: |z + ε| = l. *)
Definition upright (z : num) : Rods.pose :=
  Rods.Pose (Rods.Trio zero zero z) (Rods.Trio [zero] [zero] [zero])
    [Rods.Error (Num 1 (-4) 1) (Rods.Trio zero zero one) (Rods.Trio [zero] [zero] [zero])] [zero] zero.

Definition upright_question (z z' : num) : rod_question :=
  Question Rods.rod [1%nat] [Rods.Rod 1 [upright z; upright z'] [(0, 0)%nat] [] 0 false] [half] [one].

(* With z = 1/2 and 5/8, l = 9/16 fits both poses. *)
Example a_rod_fits : rods_witness (upright_question half (Num 5 (-3) 1)) [1%nat] zero [Num 9 (-4) 1] [] [] = true.
Proof. vm_compute. reflexivity. Qed.

(* With z = 1/2 and 1 no rod fits: the first pose needs a rod of at most 9/16, the second one of at least 15/16. The same
   rows prove nothing if the poses change places. *)
Definition contradiction_of_both : links :=
  Stage [Num 3 (-2) 1] [Num 1 (-2) 1] None [Cut (0, 0)%nat Empty zero [(1%nat, one); (2%nat, one)]] Done.

Example no_rod_fits : rods_empty (upright_question half one) [1%nat] zero contradiction_of_both = true /\
  rods_empty (upright_question one half) [1%nat] zero contradiction_of_both = false.
Proof. vm_compute. split; reflexivity. Qed.

(* So one of both poses is missed, at least; without the second one, l = 9/16 fits. *)
Example one_pose_is_wrong :
  rods_outliers (upright_question half one) [1%nat] zero 1 0 [] [contradiction_of_both] = true /\
  rods_outliers (upright_question half one) [1%nat] zero 2 0 [] [contradiction_of_both] = false /\
  rods_witness (upright_question half one) [1%nat] zero [Num 9 (-4) 1] [] [1%nat] = true.
Proof. vm_compute. repeat split; reflexivity. Qed.
