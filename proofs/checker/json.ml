(* A small JSON parser. It is trusted: what a file says is what this makes of it. Numbers stay as they are written. *)

type t = Null | Bool of bool | Number of string | Text of string | List of t list | Object of (string * t) list

exception Bad of string

let bad format = Printf.ksprintf (fun message -> raise (Bad message)) format
let deepest = 309 (* of values in a value: 310 lists or objects within each other *)

let parse (s : string) : t =
  let n = String.length s and at = ref 0 in
  let fail what = bad "not JSON at byte %d: %s" !at what in
  let peek () = if !at < n then s.[!at] else '\000' in
  let rec blank () =
    match peek () with (' ' | '\t' | '\n' | '\r') when !at < n -> incr at; blank () | _ -> () in
  let expect c = if !at < n && s.[!at] = c then incr at else fail (Printf.sprintf "'%c' is expected" c) in
  let word w value =
    let k = String.length w in
    if !at + k <= n && String.sub s !at k = w then (at := !at + k; value) else fail "an unknown word" in
  let digits () =
    let start = !at in
    while (match peek () with '0' .. '9' -> !at < n | _ -> false) do incr at done;
    if !at = start then fail "a digit is expected" in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    if peek () = '0' then incr at else digits ();
    if peek () = '.' then (incr at; digits ());
    (match peek () with
     | 'e' | 'E' -> incr at; (match peek () with '+' | '-' -> incr at | _ -> ()); digits ()
     | _ -> ());
    Number (String.sub s start (!at - start)) in
  let hex () =
    if !at + 4 > n then fail "four hexadecimal digits are expected";
    let digits = String.sub s !at 4 in
    let digit c = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') in
    if not (String.for_all digit digits) then fail "a hexadecimal digit is expected";
    at := !at + 4; int_of_string ("0x" ^ digits) in
  let text () =
    expect '"';
    let b = Buffer.create 16 in
    let rec go () =
      if !at >= n then fail "a text does not end";
      match s.[!at] with
      | '"' -> incr at
      | '\\' ->
        incr at;
        (match peek () with
         | ('"' | '\\' | '/') as c -> incr at; Buffer.add_char b c
         | ('b' | 'f' | 'n' | 'r' | 't') as c ->
           let codes = [ ('b', '\b'); ('f', '\012'); ('n', '\n'); ('r', '\r'); ('t', '\t') ] in
           incr at; Buffer.add_char b (List.assoc c codes)
         | 'u' ->
           incr at;
           let code = hex () in
           let is_pair = code land 0xFC00 = 0xD800 && !at + 1 < n && String.sub s !at 2 = "\\u" in
           let low = if is_pair then (at := !at + 2; hex ()) else 0 in
           let code = if is_pair && low land 0xFC00 = 0xDC00 then 0x10000 + ((code land 0x3FF) lsl 10) + (low land 0x3FF) else code in
           if not (Uchar.is_valid code) then fail "half a character";
           Buffer.add_utf_8_uchar b (Uchar.of_int code)
         | _ -> fail "an unknown escape");
        go ()
      | c when c < ' ' -> fail "a control character within a text"
      | c -> incr at; Buffer.add_char b c; go () in
    go ();
    Buffer.contents b in
  let rec value depth =
    if depth > deepest then fail "lists are nested too deep";
    blank ();
    let result = match peek () with
      | '{' -> incr at; Object (entries depth '}' (fun () ->
          blank (); let key = text () in blank (); expect ':'; (key, value (depth + 1))))
      | '[' -> incr at; List (entries depth ']' (fun () -> value (depth + 1)))
      | '"' -> Text (text ())
      | 't' -> word "true" (Bool true) | 'f' -> word "false" (Bool false) | 'n' -> word "null" Null
      | '-' | '0' .. '9' -> number ()
      | _ -> fail "a value is expected" in
    blank (); result
  and entries : 'a. int -> char -> (unit -> 'a) -> 'a list = fun _ close each ->
    blank ();
    if !at < n && peek () = close then (incr at; [])
    else begin
      let rec go found =
        let found = each () :: found in
        blank ();
        if !at < n && peek () = ',' then (incr at; go found) else (expect close; List.rev found) in
      go []
    end in
  let result = value 0 in
  if !at < n then fail "something follows the value";
  result

(* Fields of an object: these and no others, each once. *)
let fields what ?(optional = []) (keys : string list) = function
  | Object entries ->
    let names = List.map fst entries in
    List.iter (fun key -> if not (List.mem key names) then bad "%s lacks '%s'" what key) keys;
    List.iter (fun key -> if not (List.mem key (optional @ keys)) then bad "%s has no '%s'" what key) names;
    if List.length (List.sort_uniq compare names) < List.length names then bad "%s has a key more than once" what;
    fun key -> Option.value ~default:Null (List.assoc_opt key entries)
  | _ -> bad "%s must be an object" what

let has key = function Object entries -> List.mem_assoc key entries | _ -> false
let get key = function Object e when List.mem_assoc key e -> List.assoc key e | _ -> bad "there is no '%s'" key
let list what = function List each -> each | _ -> bad "%s must be a list" what
let text what = function Text s -> s | _ -> bad "%s must be a text" what

(* Whole numbers from 0 on. *)
let whole what = function
  | Number "-0" -> 0
  | Number s when String.length s < 16 && String.for_all (fun c -> c >= '0' && c <= '9') s -> int_of_string s
  | _ -> bad "%s must be a whole number from 0 on" what
