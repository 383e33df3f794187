(* The program that runs: numbers become zarith's, lists and options those of OCaml, row numbers machine integers. *)
Require Import ZArith.
Require Import Gough.Num Gough.Linear Gough.Relaxed Gough.Ellipsoid Gough.Boxes Gough.Legs
  Gough.Rods Gough.Chains Gough.Files.
Require Extraction.
Require Import ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.

Extraction Blacklist List String Int Z.
(* Row numbers are keys of maps; without this, the conversion takes a step, and a frame of the stack, for each unit. *)
Extract Constant Pos.of_succ_nat => "(fun n -> Big_int_Z.succ_big_int (Big_int_Z.big_int_of_int n))".
Extract Constant Pos.eqb => "Big_int_Z.eq_big_int".
Extract Constant Z.leb => "Big_int_Z.le_big_int".
Extract Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Constant Z.geb => "Big_int_Z.ge_big_int".
Extract Constant Z.gtb => "Big_int_Z.gt_big_int".
Extract Constant Z.sqrt => "(fun x -> if Z.sign x < 0 then Z.zero else Z.sqrt x)".
Extract Constant Z.log2 => "(fun x -> if Z.sign x <= 0 then Z.zero else Z.of_int (Z.numbits x - 1))".

Separate Extraction Linear.check_witness Linear.check_bound Linear.check_empty Relaxed.check_relaxed_bound
  Relaxed.check_relaxed_empty Relaxed.check_violated Ellipsoid.check_inside
  Files.legs_of Files.rod_of Chains.legs_bound Chains.legs_empty Chains.legs_outliers Chains.legs_witness
  Chains.rods_bound Chains.rods_empty Chains.rods_outliers Chains.rods_witness.
