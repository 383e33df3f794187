(* gough-proof-check CERTIFICATE.json PROBLEM.json: does the certificate prove its statement about this problem?

   The answer is that of the functions proven in Coq. The statement is written from what was read. Exit codes: 0, it
   holds; 1, it does not; 2, a file cannot be read or is something else. *)
open Json
open Reader

(* One line: names in a file cannot make up another. *)
let line text = String.map (fun c -> if c < ' ' || c = '\127' then '?' else c) text ^ "\n"
let listed xs = String.concat ", " (List.map string_of_int xs)
let counted word xs = Printf.sprintf "%s%s %s, counted from 0" word (if List.length xs > 1 then "s" else "") (listed xs)
let say format = Printf.ksprintf (fun text -> print_string (line text)) format

(* A number to at least 17 significant digits, rounded down, or up: a proven bound stays true as it is printed. *)
let rounded ~up (x : Num.num) =
  let e = Z.to_int x.expo in
  let top, bottom = if e >= 0 then (Z.shift_left x.mant e, x.den) else (x.mant, Z.shift_left x.den (-e)) in
  let size = Z.numbits top - Z.numbits bottom in
  let digits = max 0 (18 - (size * 30103 / 100000)) in
  let q = (if up then Z.cdiv else Z.fdiv) (Z.mul top (Z.pow (Z.of_int 10) digits)) bottom in
  let text = Printf.sprintf "%0*s" 1 (Z.to_string (Z.abs q)) in
  let text = String.make (max 0 (digits + 1 - String.length text)) '0' ^ text in
  let whole = String.length text - digits in
  let last = ref (String.length text) in
  while !last > whole && text.[!last - 1] = '0' do decr last done;
  let fraction = if !last > whole then "." ^ String.sub text whole (!last - whole) else "" in
  (if Z.sign q < 0 then "-" else "") ^ String.sub text 0 whole ^ fraction

(* The first digits, and "..." if there are more *)
let exactly x =
  let first = rounded ~up:(Num.is_neg x) x in
  if first = rounded ~up:(not (Num.is_neg x)) x then first else first ^ "..."
let low x = rounded ~up:false x and high x = rounded ~up:true x

(* A number of the file as the file may write it: the shortest decimal to which this double is nearest *)
let as_read (x : Num.num) =
  let v = Float.ldexp (Z.to_float x.mant) (Z.to_int x.expo) in
  List.find (fun t -> float_of_string t = v || t = "") [ Printf.sprintf "%.15g" v; Printf.sprintf "%.16g" v; Printf.sprintf "%.17g" v; "" ]

let sides ?(low = low) ?(high = high) names box =
  List.iter2 (fun name -> function
    | Some a, Some b -> say "  %s <= %s <= %s" (low a) name (high b)
    | Some a, None -> say "  %s <= %s" (low a) name
    | None, Some b -> say "  %s <= %s" name (high b)
    | None, None -> ()) names box

(* Bounds of several unknowns at once; those of one are in the box. *)
let slanted names (direction, value) =
  let terms = List.filter (fun (_, c) -> not (Num.is_zero c)) (List.combine names direction) in
  if List.length terms > 1 then
    say "  %s >= %s" (String.concat " + " (List.map (fun (x, c) -> exactly c ^ " " ^ x) terms)) (low value)

let which = "θ within the prior that satisfies |y - W θ| <= radius + regressor |θ|"

let linear certificate (names, p) =
  let head keys = fields "a certificate" ([ "gough"; "version"; "kind"; "problem"; "seal" ] @ keys) certificate in
  if whole "version" (get "version" certificate) <> 2 then bad "certificates of format 2 are read";
  let kind = text "kind" (get "kind" certificate) in
  let box steps words = function
    | None -> false
    | Some known ->
      if Linear.is_empty known then say "There is no %s." words
      else (say "Every %s has:" words; sides names known.Linear.sides; List.iter (slanted names) steps);
      true in
  let every = which ^ " in every row" in
  say "Problem: %d rows and %d unknowns θ. Prior, decimals standing for the nearest doubles:" p.Linear.n_rows (List.length names);
  sides ~low:as_read ~high:as_read names p.Linear.prior;
  match kind with
  | "Witness" ->
    let theta = (head [ "theta" ]) "theta" in
    if List.length (named names rational "theta" theta) <> List.length names then bad "a witness gives a value to each unknown";
    let x = vector names "theta" theta in
    let holds = Linear.check_witness p x in
    if holds then begin
      say "There is a %s:" every;
      List.iter2 (fun name v -> say "  %s = %s" name (exactly v)) names x
    end;
    holds
  | "Bound" ->
    let ls = each "steps" (link names) ((head [ "steps" ]) "steps") in
    box (List.filter_map (function Linear.Step (c, v, _) -> Some (c, v) | _ -> None) ls) every (Linear.check_bound p ls)
  | "Empty" ->
    let holds = Linear.check_empty p (each "steps" (link names) ((head [ "steps" ]) "steps")) in
    if holds then say "There is no %s." every;
    holds
  | "RelaxedBound" | "RelaxedEmpty" ->
    let field = head [ "q"; "steps"; "contradictions" ] in
    let q = whole "q" (field "q") and shared = cuts "contradictions" (field "contradictions") in
    let steps = each "steps" (relaxed names) (field "steps") in
    let words = Printf.sprintf "%s in all rows but at most %d, whichever they are" which q in
    if kind = "RelaxedBound" then
      box (List.map (fun s -> (s.Relaxed.direction, s.Relaxed.value)) steps) words (Relaxed.check_relaxed_bound p q shared steps)
    else begin
      let holds = Relaxed.check_relaxed_empty p q shared steps in
      if holds then say "There is no %s." words;
      holds
    end
  | "Violated" ->
    let field = head [ "at_least"; "q"; "outliers"; "contradictions" ] in
    let count = whole "at_least" (field "at_least") and q = whole "q" (field "q") in
    let rows = whole_list "outliers" (field "outliers") in
    let holds = Relaxed.check_violated p count q rows (cuts "contradictions" (field "contradictions")) in
    if holds then begin
      if count > 0 then say "Every θ within the prior violates at least %d of the rows." count;
      if rows <> [] then say "Every θ within the prior that violates at most %d of the rows violates %s." q
        (counted "row" rows)
    end;
    holds
  | "Inside" ->
    let field = head [ "steps"; "rounds" ] in
    let steps = each "steps" (link names) (field "steps") and rounds = each "rounds" (round names) (field "rounds") in
    (match Ellipsoid.check_inside p steps rounds with
     | None -> false
     | Some (known, bodies) ->
       if Linear.is_empty known then say "There is no %s." every
       else begin
         let last = List.nth bodies (List.length bodies - 1) in
         say "Every %s is in the ellipsoid of all θ with (u'(θ - c))^2 <= u' P u for every u, where" every;
         List.iter2 (fun name c -> say "  c of %s = %s" name (exactly c)) names last.Ellipsoid.center;
         List.iter (fun row -> say "  P, from the diagonal on: %s" (String.concat ", " (List.map exactly row))) last.Ellipsoid.shape;
         say "and has:"; sides names known.Linear.sides
       end;
       true)
  | kind -> bad "certificates of kind %s are not checked here" kind

(* Certificates about chains *)
type judge = {
  bound : int list -> Num.num -> Boxes.links -> Boxes.box option option;
  empty : int list -> Num.num -> Boxes.links -> bool;
  outliers : int list -> Num.num -> int -> int -> int list -> Boxes.links list -> bool;
  witness : int list -> Num.num -> Num.num list -> Num.num list list -> int list -> bool }

let judge_of { numbers; lower; upper; measured; _ } =
  match measured with
  | Legs measured ->
    let q = { Chains.numbers; measured; lower; upper } in
    { bound = Chains.legs_bound q; empty = Chains.legs_empty q; outliers = Chains.legs_outliers q; witness = Chains.legs_witness q }
  | Rods measured ->
    let q = { Chains.numbers; measured; lower; upper } in
    { bound = Chains.rods_bound q; empty = Chains.rods_empty q; outliers = Chains.rods_outliers q; witness = Chains.rods_witness q }


let chains certificate q =
  let head keys = fields "a certificate" ([ "gough"; "version"; "kind"; "problem"; "chains"; "more"; "seal" ] @ keys) certificate in
  let entry key = get key certificate in
  if whole "version" (entry "version") <> 3 then bad "certificates of format 3 are read";
  let chosen = whole_list "chains" (entry "chains") and more = double "more" (entry "more") in
  let names = List.map (fun c -> List.nth q.names (index c q.numbers)) chosen in
  let judge = judge_of q and links what v = boxes chosen names what v in
  let what = match q.measured with Legs _ -> "leg" | Rods _ -> "chain" in
  let geometry = Printf.sprintf "geometry of %s %s within the prior%s" what (listed chosen)
    (match q.measured with Legs _ -> "" | Rods _ -> " that meets its conditions") in
  let that = match q.measured with Legs _ -> "that" | Rods _ -> "and" in
  let fits = Printf.sprintf "fits all poses within their tolerances%s" (if List.length chosen > 1
    then Printf.sprintf ", with the same errors of each pose for all %ss" what else "") in
  let sides box = List.iter2 (List.iter2 (fun name (a, b) -> say "  %s <= %s <= %s" (low a) name (high b))) names box in
  let poses = match q.measured with
    | Legs (poses :: _) -> List.length poses | Rods (rod :: _) -> List.length rod.Rods.poses | _ -> 0 in
  say "Question: %d poses and the %ss %s. Prior in m, decimals standing for the nearest doubles:" poses what (listed q.numbers);
  let every = List.concat q.names in
  let matching what = same what (List.length every) in
  List.iter2 (fun name (a, b) -> say "  %s <= %s <= %s" (as_read a) name (as_read b)) every
    (List.combine (matching "lower" q.lower) (matching "upper" q.upper));
  let say_if holds words = if holds then say "%s" words; holds in
  let unit = match q.measured with Rods (rod :: _) when rod.Rods.turns -> "rad" | _ -> "m" in
  if not (Num.is_zero more) then say "Every reading may be off by %s %s %s than its tolerance states%s." (exactly (Num.abs more))
    unit (if Num.is_neg more then "less" else "more") (if Num.is_neg more then ", and not at all where that is less than 0" else "");
  match text "kind" (entry "kind") with
  | "ChainBound" ->
    (match judge.bound chosen more (links "links" ((head [ "links" ]) "links")) with
     | None -> false
     | Some None -> say_if true (Printf.sprintf "No %s %s." geometry fits)
     | Some (Some box) -> say "Every %s %s %s has:" geometry that fits; sides box; true)
  | "ChainEmpty" ->
    say_if (judge.empty chosen more (links "links" ((head [ "links" ]) "links"))) (Printf.sprintf "No %s %s." geometry fits)
  | "ChainWitness" ->
    let field = head [ "values"; "errors"; "left_out" ] in
    let exact = match q.measured with Legs _ -> double | Rods _ -> rational in
    let values = each "values" exact (field "values") and out = whole_list "left_out" (field "left_out") in
    let holds = judge.witness chosen more values (each "errors" (fun what -> each what exact) (field "errors")) out in
    if holds then begin
      say "Some %s %s%s:" geometry fits (if out = [] then "" else Printf.sprintf ", but %s" (counted "pose" out));
      List.iter2 (fun name x -> say "  %s = %s" name (exactly x)) (List.concat names) values
    end;
    holds
  | "ChainOutliers" ->
    let field = head [ "at_least"; "q"; "outliers"; "contradictions" ] in
    let count = whole "at_least" (field "at_least") and few = whole "q" (field "q") in
    let poses = whole_list "outliers" (field "outliers") in
    let holds = judge.outliers chosen more count few poses (each "contradictions" links (field "contradictions")) in
    if holds && count > 0 then say "Every %s misses at least %d of the poses." geometry count;
    if holds && poses <> [] then
      say "Every %s %s misses at most %d of the poses misses %s." geometry that few (counted "pose" poses);
    holds
  | kind -> bad "certificates of kind %s are not checked here" kind

(* Is it UTF-8 from byte i on? *)
let rec utf8 s i =
  i >= String.length s ||
  let byte k = if i + k < String.length s then Char.code s.[i + k] else 0 in
  let first = byte 0 in
  let more = if first < 0x80 then 0 else if first < 0xE0 then 1 else if first < 0xF0 then 2 else 3 in
  let code = ref (first land [| 0x7F; 0x1F; 0x0F; 0x07 |].(more)) and good = ref (first < 0x80 || 0xC0 <= first && first < 0xF8) in
  for k = 1 to more do good := !good && byte k land 0xC0 = 0x80; code := (!code lsl 6) lor (byte k land 0x3F) done;
  !good && Uchar.is_valid !code && !code >= [| 0; 0x80; 0x800; 0x10000 |].(more) && utf8 s (i + more + 1)

let read path largest =
  try
    let file = open_in_bin path in
    Fun.protect ~finally:(fun () -> close_in file) (fun () ->
      let n = in_channel_length file in
      if n > largest lsl 20 then bad "%s has more than %d MiB, which are not checked" path largest;
      let content = really_input_string file n in
      if utf8 content 0 then Json.parse content else bad "%s is not text in UTF-8" path)
  with Sys_error why -> bad "%s cannot be read: %s" path why | End_of_file -> bad "%s became shorter" path

let kind_of v = match v with Object (("gough", Text kind) :: _) -> kind | _ -> bad "not a file of gough"

let judge certificate problem =
  let c = read certificate 16 and p = read problem 256 in
  match kind_of c, kind_of p with
  | "certificate", "linear problem" -> linear c (Reader.problem p)
  | "chain certificate", "chain equations" -> chains c (Reader.question p)
  | a, b -> bad "'%s' and '%s' are not checked together" a b

let answer certificate problem =
  let about = Filename.basename certificate and problem_name = Filename.basename problem in
  match judge certificate problem with
  | true -> say "HOLDS: the proven checker accepts %s about %s." about problem_name; 0
  | false -> say "DOES NOT HOLD: the evidence in %s does not prove its statement about %s." about problem_name; 1
  | exception Reader.Absent -> say "DOES NOT HOLD: %s names an unknown or a chain that %s does not have." about problem_name; 1
  | exception Json.Bad why -> prerr_string (line ("gough-proof-check: " ^ why)); 2
  | exception (Stack_overflow | Out_of_memory | Z.Overflow) ->
    prerr_endline "gough-proof-check: the certificate is too large"; 2

(* For tests: each two lines of the standard input name a certificate and a problem, and a line gives the exit code. *)
let rec batch () =
  match input_line stdin with
  | certificate -> let code = answer certificate (input_line stdin) in say "exit %d" code; batch ()
  | exception End_of_file -> 0

let () =
  exit (match Sys.argv with
    | [| _; "--batch" |] -> batch ()
    | [| _; certificate; problem |] -> answer certificate problem
    | _ -> prerr_endline "usage: gough-proof-check CERTIFICATE.json PROBLEM.json"; 2)
