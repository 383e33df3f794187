(* From JSON to the data of the proven checker. It only reads: lengths, signs and ranges are tested by what is proven. *)
open Json

let number mant expo den = { Num.mant; expo = Z.of_int expo; den }

(* n · 2^e of a double: n is odd, or e is 0 *)
let of_double x =
  let m, e = Float.frexp x in
  let n = Z.of_float (Float.ldexp m 53) and e = e - 53 in
  if Z.sign n = 0 then number Z.zero 0 Z.one
  else
    let zeros = min (Z.trailing_zeros n) (max 0 (-e)) in
    if e > 0 then number (Z.shift_left n e) 0 Z.one else number (Z.shift_right n zeros) (e + zeros) Z.one

let is_whole s = not (String.exists (fun c -> c = '.' || c = 'e' || c = 'E') s)

(* A JSON number with a point or an exponent stands for the double nearest to it, which strtod finds. *)
let double what = function
  | Number s ->
    let x = float_of_string s in
    if is_whole s && Float.abs x >= 0x1p53 then bad "%s has a whole number that is no double" what;
    if Float.abs x = infinity then bad "%s is larger than any double" what;
    let digits = List.hd (String.split_on_char 'e' (String.lowercase_ascii s)) in
    if x = 0. && String.exists (fun c -> c >= '1' && c <= '9') digits then bad "%s is smaller than any double" what;
    of_double x
  | _ -> bad "%s must be a number" what

let among from upto c = c >= from && c <= upto

(* A double, a whole number, or a text "numerator/denominator" in decimal digits, at most 4300, or hexadecimal, at most 5000. *)
let rational what = function
  | Number s when is_whole s && String.length s - (if s.[0] = '-' then 1 else 0) <= 4300 -> number (Z.of_string s) 0 Z.one
  | Text s ->
    let decimal t = t = "0" || (t <> "" && t.[0] <> '0' && String.for_all (among '0' '9') t && String.length t <= 4300) in
    let hexadecimal t = String.length t > 2 && String.length t <= 5002 && String.sub t 0 2 = "0x"
      && String.for_all (fun c -> among '0' '9' c || among 'a' 'f' c) (String.sub t 2 (String.length t - 2)) in
    let minus = s <> "" && s.[0] = '-' in
    (match String.split_on_char '/' (if minus then String.sub s 1 (String.length s - 1) else s) with
     | ([ top; bottom ] as parts) when List.for_all (fun t -> decimal t || hexadecimal t) parts ->
       let n = Z.of_string top and d = Z.of_string bottom in
       if Z.sign d = 0 then bad "%s has the denominator 0" what;
       number (if minus then Z.neg n else n) 0 d
     | _ -> bad "%s is not a fraction" what)
  | v -> double what v

let each what read v = List.rev (List.rev_map (read what) (list what v)) (* a million rows need no stack *)
let doubles what = each what double
let table what = each what doubles
let same what n xs = if List.length xs <> n then bad "%s has %d entries instead of %d" what (List.length xs) n; xs
let maybe read what = function Null -> None | v -> Some (read what v)

let once what xs =
  if List.length (List.sort_uniq compare xs) < List.length xs then bad "%s has something more than once" what; xs

let whole_list what v = once what (each what whole v)

(* The certificate names an unknown or a chain that there is not: it may be read, but it proves nothing. *)
exception Absent

let index x xs =
  let rec go i = function [] -> raise Absent | y :: ys -> if x = y then i else go (i + 1) ys in
  go 0 xs

(* An object with names of unknowns as keys: pairs of places and values, and a list of all, where some may be missing *)
let named names read what = function
  | Object entries ->
    ignore (once what (List.map fst entries));
    List.map (fun (name, x) -> (index name names, read what x)) entries
  | _ -> bad "%s must be an object of names" what

let spread names pairs = List.mapi (fun i _ -> List.assoc_opt i pairs) names
let vector names what v = List.map (Option.value ~default:Num.zero) (spread names (named names rational what v))

let weights what v =
  let pair what v = match list what v with
    | [ k; x ] -> (whole what k, rational what x) | _ -> bad "%s must be pairs [row, weight]" what in
  let pairs = each what pair v in
  ignore (once what (List.map fst pairs)); pairs

let cuts what = each what weights

(* Linear problems and their certificates *)
let problem v =
  let field = fields "a linear problem" [ "gough"; "version"; "names"; "units"; "nominal"; "lower"; "upper"; "groups";
    "position"; "y"; "radius"; "regressor"; "W"; "seal" ] v in
  if whole "version" (field "version") <> 1 then bad "a linear problem of format 1 is read";
  let names = once "names" (each "names" text (field "names")) and y = Array.of_list (doubles "y" (field "y")) in
  ignore (maybe doubles "nominal" (field "nominal"), maybe (fun what -> each what whole) "position" (field "position"));
  ignore (each "units" text (field "units"), each "groups" text (field "groups"));
  if names = [] || List.exists (fun name -> String.trim name = "") names then bad "a linear problem has unknowns, each of which has a name";
  let n = Array.length y and p = List.length names in
  if n = 0 then bad "a linear problem has rows";
  let rows what one many = function List _ as v -> Array.of_list (many what v) | v -> Array.make n (one what v) in
  let wide what = each what (fun what v -> same what p (doubles what v)) in
  let w = Array.of_list (wide "W" (field "W")) and e = rows "radius" double doubles (field "radius") in
  let all_of_them what v = if v = Null then [] else List.init p (fun _ -> double what v) in
  let d = rows "regressor" all_of_them wide (field "regressor") in
  let side key = same key p (each key (maybe double) (field key)) in
  let low = side "lower" and high = side "upper" in
  if List.exists (( <> ) n) [ Array.length w; Array.length e; Array.length d ] then bad "W, y and radii have other lengths";
  if Array.exists Num.is_neg e || Array.exists (List.exists Num.is_neg) d then bad "a radius is negative";
  let crossed a b = match a, b with Some a, Some b -> Num.lt b a | _ -> false in
  if List.exists2 crossed low high then bad "a lower side is above the upper one";
  let row k = if k < n then Some { Linear.regressor = w.(k); measured = y.(k); radius = e.(k); blur = d.(k) } else None in
  (names, { Linear.prior = List.combine low high; n_rows = n; row_at = row })

let rec link names what v =
  if has "split" v then
    let field = fields what [ "split"; "at"; "below"; "above" ] v in
    let links key = each what (link names) (field key) in
    Linear.Split (index (text what (field "split")) names, rational what (field "at"), links "below", links "above")
  else if has "reach" v then
    let field = fields what [ "reach"; "weights" ] v in
    Linear.Reach (spread names (named names rational what (field "reach")),
      spread names (named names weights what (field "weights")))
  else
    let field = fields what [ "direction"; "value"; "weights" ] v in
    Linear.Step (vector names what (field "direction"), rational what (field "value"), weights what (field "weights"))

let relaxed names what v =
  let field = fields what [ "direction"; "value"; "cuts"; "contradictions" ] v in
  { Relaxed.direction = vector names what (field "direction"); value = rational what (field "value");
    cuts = cuts what (field "cuts"); contradictions = cuts what (field "contradictions") }

let strip names what v =
  let field = fields what ~optional:[ "below"; "above" ] [ "of"; "middle"; "half"; "weight" ] v in
  let source key = match field key with
    | Null -> Ellipsoid.Itself | List _ as v -> Ellipsoid.Weights (weights what v)
    | v -> Ellipsoid.Round_before (whole what v) in
  let along = match field "of" with
    | Text name -> Ellipsoid.Axis (index name names) | v -> Ellipsoid.Row_of (whole what v) in
  let number key = rational what (field key) in
  { Ellipsoid.coq_of = along; mid = number "middle"; half_width = number "half"; weight = number "weight";
    below = source "below"; above = source "above" }

let round names what v =
  let field = fields what [ "center"; "shape"; "strips" ] v in
  { Ellipsoid.center_of = named names rational what (field "center");
    lower_shape = each what (fun what -> each what rational) (field "shape");
    strips = each what (strip names) (field "strips") }

(* Questions about chains *)
type measured = Legs of Legs.pose list list | Rods of Rods.rod list

type question = { numbers : int list; names : string list list; lower : Num.num list; upper : Num.num list; measured : measured }

let leg_names c =
  List.map (fun (point, axis) -> Printf.sprintf "%s%d%s" point c axis)
    [ ("a", "x"); ("a", "y"); ("a", "z"); ("b", "x"); ("b", "y"); ("b", "z"); ("l", "") ]

let some what = function Some x -> x | None -> bad "%s: tables have other sizes, or numbers that they must not have" what

let legs field count =
  let get key = table key (field key) in
  some "legs" (Files.legs_of count (get "quaternion") (get "position") (get "position_tolerance")
    (get "rotation_tolerance") (get "readings") (get "reading_tolerance"))

(* Names are printed. *)
let identifier what v =
  let s = text what v and letter c = match c with 'a' .. 'z' | 'A' .. 'Z' -> true | _ -> false in
  let good = String.for_all (fun c -> letter c || c = '_' || (c >= '0' && c <= '9')) s && String.length s <= 40 in
  if s <> "" && letter s.[0] && good then s else bad "%s: names are letters, digits and underscores" what

let rod what v =
  let arrays = [ "A"; "D"; "B"; "bend" ] in
  let field = fields what ([ "names"; "products"; "conditions"; "reading"; "reading_unit"; "p"; "tolerance"; "blur" ]
    @ arrays @ List.map (fun a -> a ^ "_places") arrays) v in
  let names = each "names" identifier (field "names") and get key = table key (field key) in
  let sparse key = { Files.places = each key whole (field (key ^ "_places")); given = get key } in
  let pair what v = match each what whole v with [ i; j ] -> (i, j) | _ -> bad "%s must be pairs" what in
  let term what v = match list what v with
    | [ i; j; c ] -> ((whole what i, whole what j), double what c) | _ -> bad "%s must be [i, j, coefficient]" what in
  let turns = match text what (field "reading_unit") with "m" -> false | "rad" -> true | _ -> bad "readings are in m or rad" in
  (names, some "a chain" (Files.rod_of (List.length names) (each "products" pair (field "products"))
    (each "conditions" (fun what -> each what term) (field "conditions")) (whole "reading" (field "reading")) turns
    (get "p") (get "tolerance") (get "blur") (sparse "A") (sparse "D") (sparse "B") (sparse "bend")))

let question v =
  let kind = text "kind" (get "kind" v) in
  let own = match kind with
    | "legs" -> [ "quaternion"; "position"; "readings"; "position_tolerance"; "rotation_tolerance"; "reading_tolerance" ]
    | "rods" -> [ "equations" ] | _ -> bad "kind must be legs or rods" in
  let field = fields "a question" ([ "gough"; "version"; "kind"; "chains"; "lower"; "upper"; "seal" ] @ own) v in
  if whole "version" (field "version") <> 3 then bad "questions of format 3 are read";
  let numbers = whole_list "chains" (field "chains") in
  let names, measured =
    if kind = "legs" then (List.map leg_names numbers, Legs (legs field (List.length numbers)))
    else let names, rods = List.split (each "equations" rod (field "equations")) in (names, Rods rods) in
  ignore (once "names" (List.concat names));
  { numbers; names = same "equations" (List.length numbers) names; measured;
    lower = doubles "lower" (field "lower"); upper = doubles "upper" (field "upper") }

(* Cuts name their unknown: [names] are those of the chains that the certificate is about. *)
let unknown names name =
  let c = index true (List.map (List.mem name) names) in (c, index name (List.nth names c))

let cut names what v =
  let name, side, bound, rows, factors = match list what v with
    | [ name; side; bound ] -> (name, side, bound, List [], List [])
    | [ name; side; bound; rows; factors ] -> (name, side, bound, rows, factors)
    | _ -> bad "%s must be [unknown, side, bound, rows, weights]" what in
  let cside = match text what side with
    | "lower" -> Boxes.Lower | "upper" -> Boxes.Upper | "empty" -> Boxes.Empty | _ -> bad "%s has an unknown side" what in
  let rows = each what whole rows and factors = doubles what factors and name = text what name in
  { Boxes.on = (if cside = Boxes.Empty then (0, 0) else unknown names name); cside; cbound = double what bound;
    weights = List.combine (same what (List.length factors) rows) factors }

let rec boxes numbers names what v =
  let inner = boxes numbers names what in
  List.fold_right (fun v rest -> match v with
    | v when has "split" v ->
      let field = fields what [ "split"; "at"; "below"; "above" ] v in
      let c, i = unknown names (text what (field "split")) in
      Boxes.Split (c, i, double what (field "at"), inner (field "below"), inner (field "above"), rest)
    | v ->
      let field = fields what [ "chain"; "center"; "radius"; "cuts" ] v in
      let who = Option.map (fun c -> index c numbers) (maybe whole what (field "chain")) in
      Boxes.Stage (doubles what (field "center"), doubles what (field "radius"), who, each what (cut names) (field "cuts"), rest))
    (list what v) Boxes.Done
