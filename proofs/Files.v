(* From the tables of a file to chains: legs and rods pose by pose. These definitions are part of the specification: they
   say which entry of which table is which number of a leg or chain. See docs/certificate-format.md. *)
Require Import List Arith Bool.
Require Import Gough.Num Gough.Chains.
Require Gough.Legs Gough.Rods.
Import ListNotations.

(* A row of numbers for each pose *)
Definition table := list (list num).

Definition bind {A B} (a : option A) (f : A -> option B) : option B := match a with Some x => f x | None => None end.
Notation "x <- a ;; b" := (bind a (fun x => b)) (at level 61, a at next level, right associativity).

(* f of each element, if it is defined for all of them *)
Fixpoint all {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with [] => Some [] | a :: l' => b <- f a;; m <- all f l';; Some (b :: m) end.

(* f of both elements at each place, if the lists have one length and it is always defined *)
Fixpoint both {A B C} (f : A -> B -> option C) (l : list A) (m : list B) : option (list C) :=
  match l, m with
  | [], [] => Some []
  | a :: l', b :: m' => c <- f a b;; n <- both f l' m';; Some (c :: n)
  | _, _ => None
  end.

Definition paired {A B} (l : list A) (m : list B) : option (list (A * B)) := both (fun a b => Some (a, b)) l m.

(* Legs: leg c has the entry c of each row of readings and of their tolerances. ------------------------------------- *)

Definition leg_pose (c : nat) (row : (list num * list num) * (list num * list num) * (list num * list num)) :
    option Legs.pose :=
  let '((q, p), (tp, tw), (r, tr)) := row in
  x <- nth_error r c;; t <- nth_error tr c;; Legs.pose_of q p tp tw x t.

(* All legs, of which there are as many as entries in each row of readings. *)
Definition legs_of (count : nat) (quaternion position position_tolerance rotation_tolerance readings
    reading_tolerance : table) : option (list (list Legs.pose)) :=
  poses <- paired quaternion position;; tolerances <- paired position_tolerance rotation_tolerance;;
  read <- paired readings reading_tolerance;; half <- paired poses tolerances;; rows <- paired half read;;
  if forallb (fun r => Nat.eqb (length r) count) (readings ++ reading_tolerance)
  then all (fun c => all (leg_pose c) rows) (seq 0 count) else None.

(* Rods ------------------------------------------------------------------------------------------------------------- *)

(* The numbers of a row, each at its place among [width] numbers, of which all others are 0. Places rise. *)
Fixpoint filled (i width : nat) (places : list nat) (row : list num) : option (list num) :=
  match width with
  | O => match places, row with [], [] => Some [] | _, _ => None end
  | S width' =>
      match places, row with
      | p :: places', x :: row' =>
          if Nat.eqb p i then l <- filled (S i) width' places' row';; Some (x :: l)
          else l <- filled (S i) width' places row;; Some (zero :: l)
      | [], [] => l <- filled (S i) width' [] [];; Some (zero :: l)
      | _, _ => None
      end
  end.

(* An array of which most entries are 0: the places of those that a row of the table gives. *)
Record sparse := Sparse { places : list nat; given : table }.

Definition full (width : nat) (a : sparse) : option table := all (filled 0 width (places a)) (given a).

Definition trio_of {A} (l : list A) : option (Rods.trio A) :=
  match l with [a; b; c] => Some (Rods.Trio a b c) | _ => None end.

(* Three rows of n numbers *)
Definition matrix (n : nat) (l : list num) : option (Rods.trio (list num)) := rows <- pieces [n; n; n] l;; trio_of rows.

(* An error: its tolerance, three numbers of D, three rows of B *)
Definition error_of (n : nat) (t : num) (db : list num * list num) : option Rods.error :=
  d <- trio_of (fst db);; b <- matrix n (snd db);; Some (Rods.Error t d b).

(* A pose: p, A; tolerances, bend; D, B; blur *)
Definition rod_pose (n errors : nat)
    (row : ((list num * list num) * (list num * list num)) * ((list num * list num) * list num)) : option Rods.pose :=
  let '((p, a), (t, bend), ((d, b), blur)) := row in
  p <- trio_of p;; a <- matrix n a;;
  ds <- pieces (repeat 3 errors) d;; bs <- pieces (repeat (3 * n) errors) b;; dbs <- paired ds bs;;
  es <- both (error_of n) t dbs;;
  match blur with [x] => Some (Rods.Pose p a es bend x) | _ => None end.

Definition rod_of (n : nat) (products : list (nat * nat)) (conditions : list Rods.condition) (reading : nat) (turns : bool)
    (p tolerance blur : table) (A D B bend : sparse) : option Rods.rod :=
  let errors := length (hd [] tolerance) in
  a <- full (3 * n) A;; d <- full (3 * errors) D;; b <- full (3 * errors * n) B;; bends <- full n bend;;
  pa <- paired p a;; tb <- paired tolerance bends;; db <- paired d b;; dbb <- paired db blur;;
  half <- paired pa tb;; rows <- paired half dbb;;
  poses <- all (rod_pose n errors) rows;;
  Some (Rods.Rod n poses products conditions reading turns).
