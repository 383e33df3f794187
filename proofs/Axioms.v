(* What the theorems about the functions that run assume: `make axioms` prints it. Only axioms of Coq's real numbers may be named.
   A theorem in conjunction with others is printed once for all of them. *)
Require Gough.Linear Gough.Relaxed Gough.Ellipsoid Gough.Chains.
Import Linear Relaxed Ellipsoid Chains.

Definition about_linear_problems := (linear_sound, relaxed_sound, @inside_sound, @inverse_form).
Print Assumptions about_linear_problems.

Definition about_legs := (@legs_fit_pose_is, @legs_bound_sound, @legs_empty_sound, @legs_outliers_sound, @legs_witness_sound).
Print Assumptions about_legs.

Definition about_rods := (@rods_fit_pose_is, @rods_bound_sound, @rods_empty_sound, @rods_outliers_sound, @rods_witness_sound,
  @rods_witness_whatever).
Print Assumptions about_rods.
