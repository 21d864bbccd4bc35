(** Attention over the reals: finite sums, the steps of a walkthrough, and how gradients pass
    back through them. Whatever the sizes; nothing is assumed but the axioms of the reals. *)

From Coq Require Import Reals Lra Lia Arith List.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Specific_stdz Specific_ops Tactic.
Open Scope R_scope.

(** Intervals in whole numbers of Coq's own: those of the machine, which Interval takes unless it
    is told otherwise, would have to be believed. *)
Module WholeNumbers := SpecificFloat StdZRadix2.
Module Intervals := IntervalTactic WholeNumbers.
Export Intervals.

(** * Sums *)

(** The sum of f 0, ..., f (n - 1). Coquelicot's [sum_n f n] has one term more: it can't be
    empty. *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros H; simpl; [reflexivity|].
  rewrite IH, (H n) by auto with arith. reflexivity.
Qed.

Lemma sum_0 n : sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_scal_l n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_scal_r n c f : sum n (fun i => f i * c) = sum n f * c.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n as [|n IH]; [|rewrite S_INR; cbn [sum]; rewrite IH]; cbn; ring. Qed.

Lemma sum_swap m n f :
  sum m (fun i => sum n (fun j => f i j)) = sum n (fun j => sum m (fun i => f i j)).
Proof.
  induction m as [|m IH]; simpl.
  - rewrite sum_0. reflexivity.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof.
  induction n as [|n IH]; intros H; simpl; [lra|].
  assert (0 <= f n) by auto with arith. assert (0 <= sum n f) by auto with arith. lra.
Qed.

(** A sum of what is not below 0, with one term above it, is above 0. *)
Lemma sum_pos n f i :
  (forall k, (k < n)%nat -> 0 <= f k) -> (i < n)%nat -> 0 < f i -> 0 < sum n f.
Proof.
  induction n as [|n IH]; intros H Hi Hp; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [->|E].
  - assert (0 <= sum n f) by (apply sum_nonneg; auto with arith). lra.
  - assert (0 < sum n f) by (apply IH; auto with arith; lia).
    assert (0 <= f n) by auto with arith. lra.
Qed.

(** * Deltas *)

(** 1 where two indices are the same, else 0. *)
Definition delta (i j : nat) : R := if Nat.eqb i j then 1 else 0.

Lemma delta_same i : delta i i = 1.
Proof. unfold delta. now rewrite Nat.eqb_refl. Qed.
Lemma delta_other i j : i <> j -> delta i j = 0.
Proof. unfold delta. intros H. apply Nat.eqb_neq in H. now rewrite H. Qed.
Lemma delta_sym i j : delta i j = delta j i.
Proof. unfold delta. now rewrite Nat.eqb_sym. Qed.

(** Of a sum with a delta one term is left. *)
Lemma sum_delta n i f : (i < n)%nat -> sum n (fun k => delta i k * f k) = f i.
Proof.
  induction n as [|n IH]; intros H; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [->|E].
  - rewrite delta_same, (sum_ext n _ (fun _ => 0)), sum_0; [ring|].
    intros k Hk. rewrite delta_other by lia. ring.
  - rewrite IH, delta_other by lia. ring.
Qed.

(** * Figures *)

(** A matrix by its rows, and whether keys are kept by theirs. *)
Definition by_rows (rows : list (list R)) (i j : nat) : R := nth j (nth i rows nil) 0.
Definition choices (rows : list (list bool)) (i j : nat) : bool := nth j (nth i rows nil) false.
(** Each query keeps the keys up to its own. *)
Definition causal (i j : nat) : bool := Nat.leb j i.

(** Whether a place is one of n, from the first on. *)
Definition within (first n i : nat) : bool :=
  if Nat.leb first i then Nat.ltb i (first + n) else false.

(** 1 where the first number is above the second, else 0. *)
Definition above (x y : R) : R := if Rlt_dec y x then 1 else 0.

Lemma above_yes x y : y < x -> above x y = 1.
Proof. intros H. unfold above. now destruct (Rlt_dec y x). Qed.
Lemma above_no x y : x <= y -> above x y = 0.
Proof. intros H. unfold above. destruct (Rlt_dec y x); [lra | reflexivity]. Qed.
Lemma sqrt_is x y : 0 <= y /\ x = y * y -> sqrt x = y.
Proof. intros [H ->]. now apply sqrt_square. Qed.
Lemma exp_at_0 x : x = 0 -> exp x = 1.
Proof. intros ->. apply exp_0. Qed.
Lemma sin_at_0 x : x = 0 -> sin x = 0.
Proof. intros ->. apply sin_0. Qed.
Lemma cos_at_0 x : x = 0 -> cos x = 1.
Proof. intros ->. apply cos_0. Qed.
Lemma ln_at_1 x : x = 1 -> ln x = 0.
Proof. intros ->. apply ln_1. Qed.

(** Opens what is defined here, where places are known. *)
Ltac opened := cbv [
  sum by_rows choices causal within nth Nat.leb Nat.ltb Nat.add Nat.sub Nat.mul Nat.eqb delta].
(** Takes a root that is rational, and what is known at 0 and 1. *)
Ltac rational_root y := match goal with |- context [sqrt ?x] =>
  rewrite (sqrt_is x y) by (split; lra) end.
Ltac known := repeat match goal with
  | |- context [exp ?x] => rewrite (exp_at_0 x) by lra
  | |- context [sin ?x] => rewrite (sin_at_0 x) by lra
  | |- context [cos ?x] => rewrite (cos_at_0 x) by lra
  | |- context [ln ?x] => rewrite (ln_at_1 x) by lra
  end.
(** Bounds, from those that are known. *)
Ltac bounded := interval with (i_prec 150).
(** Takes a term for any number within what a lemma says of it. *)
Ltac taken t lemma := pose proof lemma; generalize dependent t; intros.
(** Says of two numbers which one is the larger. *)
Ltac compared := repeat match goal with
  | |- context [Rmax ?x ?y] => first
    [ rewrite (Rmax_left x y) by first [lra | bounded]
    | rewrite (Rmax_right x y) by first [lra | bounded] ]
  | |- context [above ?x ?y] => first
    [ rewrite (above_yes x y) by first [lra | bounded]
    | rewrite (above_no x y) by first [lra | bounded] ]
  end.
(** Takes sines and cosines for any numbers that are those of an angle. *)
Ltac angles := repeat match goal with |- context [sin ?x] =>
  pose proof (sin2_cos2 x); unfold Rsqr in *;
  generalize dependent (sin x); generalize dependent (cos x); intros end.
(** An equation of rational numbers, or of the same exponentials. *)
Ltac same := first
  [lra | progress angles; lra | field; repeat split; apply Rgt_not_eq; bounded | field].
(** A number within bounds that are known, beside a figure. *)
Ltac figure := unfold Rabs; repeat destruct (Rcase_abs _); lra.

(** * Slopes *)

Lemma slope_eq (f : R -> R) (x a b : R) : is_derive f x a -> a = b -> is_derive f x b.
Proof. now intros H <-. Qed.
Lemma slope_const (c x : R) : is_derive (fun _ => c) x 0.
Proof. apply @is_derive_const. Qed.
Lemma slope_id (x : R) : is_derive (fun t => t) x 1.
Proof. apply @is_derive_id. Qed.
Lemma slope_plus (f g : R -> R) (x a b : R) :
  is_derive f x a -> is_derive g x b -> is_derive (fun t => f t + g t) x (a + b).
Proof. intros Hf Hg. now apply @is_derive_plus. Qed.
Lemma slope_opp (f : R -> R) (x a : R) : is_derive f x a -> is_derive (fun t => - f t) x (- a).
Proof. intros Hf. now apply @is_derive_opp. Qed.
Lemma slope_mult (f g : R -> R) (x a b : R) :
  is_derive f x a -> is_derive g x b -> is_derive (fun t => f t * g t) x (a * g x + f x * b).
Proof. intros Hf Hg. apply (is_derive_mult f g x a b); auto. intros; apply Rmult_comm. Qed.

(** A function of one number after another: f after g. *)
Lemma slope_after (f g : R -> R) (x a b : R) :
  is_derive f (g x) a -> is_derive g x b -> is_derive (fun t => f (g t)) x (a * b).
Proof. intros Hf Hg. rewrite Rmult_comm. now apply (is_derive_comp f g). Qed.
(** f is v at x, and has the derivative d there. *)
Definition passes (f : R -> R) (x v d : R) : Prop := f x = v /\ is_derive f x d.

Lemma passes_slope f x v d : passes f x v d -> is_derive f x d.
Proof. intros H. exact (proj2 H). Qed.
Lemma passes_unique f x v d : passes f x v d -> Derive f x = d.
Proof. intros H. apply is_derive_unique, H. Qed.

Lemma passes_is f x v w d : passes f x v d -> v = w -> passes f x w d. Proof. now intros H <-. Qed.

Lemma passes_ext f g x v d : (forall t, f t = g t) -> passes g x v d -> passes f x v d.
Proof.
  intros H [V D]. split; [now rewrite H|].
  apply is_derive_ext with g; [intros t; now rewrite H|exact D].
Qed.

Lemma passes_const c x : passes (fun _ => c) x c 0.
Proof. split; [reflexivity|apply slope_const]. Qed.

Lemma passes_id x : passes (fun t => t) x x 1. Proof. split; [reflexivity|apply slope_id]. Qed.

Lemma passes_plus f g x v w d e :
  passes f x v d -> passes g x w e -> passes (fun t => f t + g t) x (v + w) (d + e).
Proof. intros [<- Df] [<- Dg]. split; [reflexivity|]. now apply slope_plus. Qed.
Lemma passes_opp f x v d : passes f x v d -> passes (fun t => - f t) x (- v) (- d).
Proof. intros [<- Df]. split; [reflexivity|]. now apply slope_opp. Qed.
Lemma passes_minus f g x v w d e :
  passes f x v d -> passes g x w e -> passes (fun t => f t - g t) x (v - w) (d - e).
Proof. intros [<- Df] [<- Dg]. split; [reflexivity|]. now apply @is_derive_minus. Qed.
Lemma passes_mult f g x v w d e :
  passes f x v d -> passes g x w e -> passes (fun t => f t * g t) x (v * w) (d * w + v * e).
Proof. intros [<- Df] [<- Dg]. split; [reflexivity|]. now apply slope_mult. Qed.
Lemma passes_inv g x w e : passes g x w e -> w <> 0 -> passes (fun t => / g t) x (/ w) (- e / w ^ 2).
Proof. intros [<- Dg] N. split; [reflexivity|]. now apply is_derive_inv. Qed.

Lemma passes_div f g x v w d e : passes f x v d -> passes g x w e -> w <> 0 ->
  passes (fun t => f t / g t) x (v / w) (d / w - v * e / w ^ 2).
Proof.
  intros F G N. destruct (passes_mult _ _ _ _ _ _ _ F (passes_inv _ _ _ _ G N)) as [V D].
  split; [exact V|]. apply (slope_eq _ _ _ _ D). field. exact N.
Qed.

Lemma passes_after (h : R -> R) (h' : R) f x v d :
  is_derive h v h' -> passes f x v d -> passes (fun t => h (f t)) x (h v) (h' * d).
Proof. intros H [V D]. subst v. split; [reflexivity|]. now apply slope_after. Qed.
Lemma passes_exp f x v d : passes f x v d -> passes (fun t => exp (f t)) x (exp v) (exp v * d).
Proof. apply passes_after, is_derive_exp. Qed.
Lemma passes_ln f x v d : passes f x v d -> 0 < v -> passes (fun t => ln (f t)) x (ln v) (/ v * d).
Proof. intros H P. now apply (passes_after ln); [apply is_derive_ln|]. Qed.

Lemma passes_sqrt f x v d :
  passes f x v d -> 0 < v -> passes (fun t => sqrt (f t)) x (sqrt v) (/ (2 * sqrt v) * d).
Proof.
  intros H P. apply (passes_after sqrt); [|exact H].
  apply is_derive_Reals. exact (derivable_pt_lim_sqrt v P).
Qed.

Lemma passes_sin f x v d : passes f x v d -> passes (fun t => sin (f t)) x (sin v) (cos v * d).
Proof. apply (passes_after sin), is_derive_Reals, derivable_pt_lim_sin. Qed.
Lemma passes_cos f x v d : passes f x v d -> passes (fun t => cos (f t)) x (cos v) (- sin v * d).
Proof. apply (passes_after cos), is_derive_Reals, derivable_pt_lim_cos. Qed.

Lemma passes_tanh f x v d :
  passes f x v d -> passes (fun t => tanh (f t)) x (tanh v) ((1 - tanh v * tanh v) * d).
Proof.
  apply (passes_after tanh). assert (P : cosh v <> 0).
  { unfold cosh. pose proof (exp_pos v). pose proof (exp_pos (- v)). lra. }
  assert (S : passes sinh v (sinh v) (cosh v)).
  { split; [reflexivity|]. apply is_derive_Reals, derivable_pt_lim_sinh. }
  assert (C : passes cosh v (cosh v) (sinh v)).
  { split; [reflexivity|]. apply is_derive_Reals, derivable_pt_lim_cosh. }
  apply (slope_eq _ _ _ _ (passes_slope _ _ _ _ (passes_div _ _ _ _ _ _ _ S C P))).
  unfold tanh. field. exact P.
Qed.

Lemma passes_pow k f x v d :
  passes f x v d -> passes (fun t => f t ^ k) x (v ^ k) (INR k * v ^ pred k * d).
Proof. apply (passes_after (fun t => t ^ k)), is_derive_Reals, derivable_pt_lim_pow. Qed.
Lemma passes_square f x v d : passes f x v d -> passes (fun t => f t ^ 2) x (v ^ 2) (2 * v * d).
Proof. intros H. apply (passes_pow 2) in H. cbn [pred INR] in H. rewrite pow_1 in H. exact H. Qed.
Lemma passes_cube f x v d : passes f x v d -> passes (fun t => f t ^ 3) x (v ^ 3) (3 * v ^ 2 * d).
Proof.
  intros H. apply (passes_pow 3) in H. cbn [pred INR] in H.
  replace (1 + 1 + 1) with 3 in H by ring. exact H.
Qed.

Lemma passes_sum n f x v d : (forall i, (i < n)%nat -> passes (fun t => f t i) x (v i) (d i)) ->
  passes (fun t => sum n (fun i => f t i)) x (sum n v) (sum n d).
Proof.
  induction n as [|n IH]; intros H; simpl.
  - apply passes_const.
  - apply passes_plus; auto with arith.
Qed.

(** * Entries that move *)

(** A row, and a matrix, with [x] for its entry at a place: as a function of x what a partial
    derivative is of. *)
Definition put1 (v : nat -> R) (i : nat) (x : R) (a : nat) : R :=
  if Nat.eqb a i then x else v a.
Definition put2 (A : nat -> nat -> R) (i j : nat) (x : R) (a b : nat) : R :=
  if Nat.eqb a i then if Nat.eqb b j then x else A a b else A a b.

(** Of [p t] the entries within n, or m and n, are [A] at t = x, and move with slopes [A']. *)
Definition moves1 (n : nat) (p : R -> nat -> R) (x : R) (v v' : nat -> R) : Prop :=
  forall i, (i < n)%nat -> p x i = v i /\ is_derive (fun t => p t i) x (v' i).
Definition moves2 (m n : nat) (p : R -> nat -> nat -> R) (x : R) (A A' : nat -> nat -> R) : Prop :=
  forall i j, (i < m)%nat -> (j < n)%nat ->
  p x i j = A i j /\ is_derive (fun t => p t i j) x (A' i j).

(** What a gradient makes of slopes: the sum of all products. *)
Definition paired1 (n : nat) (g v' : nat -> R) : R := sum n (fun i => g i * v' i).
Definition paired2 (m n : nat) (G A' : nat -> nat -> R) : R :=
  sum m (fun i => sum n (fun j => G i j * A' i j)).

(** [G] is the gradient of a function [L] at [A]: however the entries of A move, L moves as the
    chain rule says. Every L that is differentiable in the m n entries has one. *)
Definition gradient1 (n : nat) (L : (nat -> R) -> R) (v g : nat -> R) : Prop :=
  forall p x v', moves1 n p x v v' -> is_derive (fun t => L (p t)) x (paired1 n g v').
Definition gradient2 (m n : nat) (L : (nat -> nat -> R) -> R) (A G : nat -> nat -> R) : Prop :=
  forall p x A', moves2 m n p x A A' -> is_derive (fun t => L (p t)) x (paired2 m n G A').

Lemma passes_put1 v k a : passes (fun t => put1 v k t a) (v k) (v a) (delta a k).
Proof.
  unfold put1, delta. destruct (Nat.eqb_spec a k) as [->|N];
    [apply passes_id|apply passes_const].
Qed.

Lemma passes_put2 A i j a b :
  passes (fun t => put2 A i j t a b) (A i j) (A a b) (delta a i * delta b j).
Proof.
  unfold put2, delta. destruct (Nat.eqb_spec a i) as [->|N], (Nat.eqb_spec b j) as [->|M];
    rewrite ?Rmult_1_l, ?Rmult_0_l; auto using passes_id, passes_const.
Qed.

Lemma put1_moves n v i : moves1 n (put1 v i) (v i) v (delta i).
Proof. intros a _. rewrite delta_sym. apply passes_put1. Qed.
Lemma put2_moves m n A i j :
  moves2 m n (put2 A i j) (A i j) A (fun a b => delta i a * delta j b).
Proof. intros a b _ _. rewrite (delta_sym i), (delta_sym j). apply passes_put2. Qed.

(** Of an entry that moves alone a gradient makes its own entry. *)
Lemma paired2_unit m n G i j :
  (i < m)%nat -> (j < n)%nat -> paired2 m n G (fun a b => delta i a * delta j b) = G i j.
Proof.
  intros Hi Hj. unfold paired2. rewrite (sum_ext _ _ (fun a => delta i a * G a j)).
  - now apply (sum_delta m i (fun a => G a j)).
  - intros a _. rewrite (sum_ext _ _ (fun b => delta j b * (delta i a * G a b))).
    + now apply (sum_delta n j (fun b => delta i a * G a b)).
    + intros b _. ring.
Qed.

(** * Steps, and how gradients pass back through them

    Each lemma says of a step: where its operands move, its result moves, and what a gradient [G]
    makes of that is what gradients of the operands make of their slopes. *)

Lemma paired2_ext m n G H A' B' :
  (forall i j, (i < m)%nat -> (j < n)%nat -> G i j * A' i j = H i j * B' i j) ->
  paired2 m n G A' = paired2 m n H B'.
Proof. intros E. apply sum_ext. intros i Hi. apply sum_ext. auto. Qed.

(** Sums of products, term by term. *)
Ltac paired := unfold paired2; rewrite <- sum_plus; apply sum_ext; intros;
  rewrite <- sum_plus; apply sum_ext; intros; first [ring | field; auto].
Lemma paired2_plus m n G H A' :
  paired2 m n G A' + paired2 m n H A' = paired2 m n (fun i j => G i j + H i j) A'.
Proof. paired. Qed.

Lemma paired2_still m n G : paired2 m n G (fun _ _ => 0) = 0.
Proof.
  unfold paired2. rewrite (sum_ext _ _ (fun _ => 0)); [apply sum_0|].
  intros i _. rewrite (sum_ext _ _ (fun _ => 0)); [apply sum_0|]. intros j _. ring.
Qed.

(** A gradient has the partial derivatives for its entries. *)
Lemma gradient2_put2 m n L A G : gradient2 m n L A G -> forall i j, (i < m)%nat -> (j < n)%nat ->
  is_derive (fun x => L (put2 A i j x)) (A i j) (G i j).
Proof.
  intros H i j Hi Hj. rewrite <- (paired2_unit m n G i j Hi Hj). apply (H _ _ _ (put2_moves m n A i j)).
Qed.

Lemma sum_app n l f : sum (n + l) f = sum n f + sum l (fun j => f (n + j)%nat).
Proof.
  induction l as [|l IH]; [rewrite Nat.add_0_r; simpl; ring|].
  rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

(** Of a sum of pairings those with one node, and the others; [tt] where there are none. *)
Ltac added terms term := lazymatch terms with tt => term | _ => constr:(terms + term) end.
Ltac pairings_of D whole found := lazymatch whole with
  | ?a + ?b => let more := pairings_of D a found in pairings_of D b more
  | paired2 _ _ _ D => added found whole
  | _ => found
  end.
Ltac pairings_else D whole found := lazymatch whole with
  | ?a + ?b => let more := pairings_else D a found in pairings_else D b more
  | paired2 _ _ _ D => found
  | _ => added found whole
  end.
(** A node that is used several times gets the sum of what flows in: its pairings become one. *)
Ltac gathered D := match goal with |- ?whole = _ =>
  let own := pairings_of D whole tt in
  let others := pairings_else D whole tt in
  let sorted := lazymatch others with tt => own | _ => constr:(own + others) end in
  transitivity sorted; [ring|];
  match own with context [paired2 ?m ?n _ D] =>
    let E := fresh in pose proof (fun G H => paired2_plus m n G H D) as E; rewrite !E; clear E
  end end.
(** Calls what flows into a node by its name. *)
Ltac called D H := match goal with |- context [paired2 ?m ?n ?G D] =>
  change (paired2 m n G D) with (paired2 m n H D) end.
(** A step back from a node: by its lemma, without what does not move. *)
Ltac back E := rewrite E; rewrite ?paired2_still, ?Rplus_0_r, ?Rplus_0_l.

(** Places that are picked are there, and all that flows is gathered. *)
Ltac placed := intros; cbv beta; lia.
Ltac picked := intros; cbv [paired2]; opened; ring.

(** What does not move. *)
Lemma still m n x A : moves2 m n (fun _ => A) x A (fun _ _ => 0).
Proof. intros i j _ _. split; [reflexivity | apply slope_const]. Qed.

Section Steps.
Context {m n : nat} {p q : R -> nat -> nat -> R} {x : R} {A B A' B' : nat -> nat -> R}.
Hypothesis HA : moves2 m n p x A A'.

Lemma map_back (f f' : R -> R) :
  (forall i j, (i < m)%nat -> (j < n)%nat -> is_derive f (A i j) (f' (A i j))) ->
  exists C', moves2 m n (fun t i j => f (p t i j)) x (fun i j => f (A i j)) C' /\
  forall G, paired2 m n G C' = paired2 m n (fun i j => G i j * f' (A i j)) A'.
Proof.
  intros Hf. exists (fun i j => f' (A i j) * A' i j). split.
  - intros i j Hi Hj. exact (passes_after f _ _ _ _ _ (Hf i j Hi Hj) (HA i j Hi Hj)).
  - intros G. apply paired2_ext. intros. ring.
Qed.

Lemma opp_back :
  exists C', moves2 m n (fun t i j => - p t i j) x (fun i j => - A i j) C' /\
  forall G, paired2 m n G C' = paired2 m n (fun i j => - G i j) A'.
Proof.
  exists (fun i j => - A' i j). split.
  - intros i j Hi Hj. exact (passes_opp _ _ _ _ (HA i j Hi Hj)).
  - intros G. apply paired2_ext. intros. ring.
Qed.

(** The same entries, as a quantity of its own. *)
Lemma copy_back : exists C', moves2 m n p x A C' /\ forall G, paired2 m n G C' = paired2 m n G A'.
Proof. exists A'. split; [exact HA | reflexivity]. Qed.

Lemma transpose_back :
  exists C', moves2 n m (fun t i j => p t j i) x (fun i j => A j i) C' /\
  forall G, paired2 n m G C' = paired2 m n (fun i j => G j i) A'.
Proof.
  exists (fun i j => A' j i). split.
  - intros i j Hi Hj. now apply HA.
  - intros G. unfold paired2. apply sum_swap.
Qed.

(** Rows and columns by their places, which may be taken several times; [T] gathers what flows
    into each. *)
Lemma pick_back k l (r c : nat -> nat) (T : (nat -> nat -> R) -> nat -> nat -> R) :
  (forall i, (i < k)%nat -> (r i < m)%nat) -> (forall j, (j < l)%nat -> (c j < n)%nat) ->
  (forall G B, paired2 k l G (fun i j => B (r i) (c j)) = paired2 m n (T G) B) ->
  exists C', moves2 k l (fun t i j => p t (r i) (c j)) x (fun i j => A (r i) (c j)) C' /\
  forall G, paired2 k l G C' = paired2 m n (T G) A'.
Proof.
  intros Hr Hc HT. exists (fun i j => A' (r i) (c j)). split; [|auto].
  intros i j Hi Hj. apply HA; auto.
Qed.

Lemma rowsum_back :
  exists C', moves2 m 1 (fun t i _ => sum n (fun k => p t i k)) x
    (fun i _ => sum n (fun k => A i k)) C' /\
  forall G, paired2 m 1 G C' = paired2 m n (fun i j => G i 0%nat) A'.
Proof.
  exists (fun i _ => sum n (fun k => A' i k)). split.
  - intros i j Hi _. exact (passes_sum n (fun t k => p t i k) _ _ _ (fun k => HA i k Hi)).
  - intros G. apply sum_ext. intros i _. simpl. rewrite sum_scal_l. apply Rplus_0_l.
Qed.

Lemma colsum_back :
  exists C', moves2 1 n (fun t _ j => sum m (fun k => p t k j)) x
    (fun _ j => sum m (fun k => A k j)) C' /\
  forall G, paired2 1 n G C' = paired2 m n (fun i j => G 0%nat j) A'.
Proof.
  exists (fun _ j => sum m (fun k => A' k j)). split.
  - intros i j _ Hj. exact (passes_sum m (fun t k => p t k j) _ _ _ (fun k Hk => HA k j Hk Hj)).
  - intros G. unfold paired2. simpl. rewrite Rplus_0_l, sum_swap. apply sum_ext. intros j _.
    symmetry. apply sum_scal_l.
Qed.

Lemma total_back :
  exists C', moves2 1 1 (fun t _ _ => sum m (fun i => sum n (fun j => p t i j))) x
    (fun _ _ => sum m (fun i => sum n (fun j => A i j))) C' /\
  forall G, paired2 1 1 G C' = paired2 m n (fun i j => G 0%nat 0%nat) A'.
Proof.
  exists (fun _ _ => sum m (fun i => sum n (fun j => A' i j))). split.
  - intros i j _ _. apply (passes_sum m (fun t a => sum n (fun b => p t a b))). intros a Ha.
    exact (passes_sum n (fun t b => p t a b) _ _ _ (fun b => HA a b Ha)).
  - intros G. unfold paired2. simpl. rewrite !Rplus_0_l, <- sum_scal_l. apply sum_ext.
    intros i _. symmetry. apply sum_scal_l.
Qed.

(** The weights of a row, of the keys that it keeps: the others are left out of the sum. *)
Section Softmax.
Variable keep : nat -> nat -> bool.
Hypothesis Hkeep : forall i, (i < m)%nat -> exists k, (k < n)%nat /\ keep i k = true.
Let Z S i := sum n (fun k => if keep i k then exp (S i k) else 0).
Let W S i j := if keep i j then exp (S i j) / Z S i else 0.

Lemma normaliser_pos S i : (i < m)%nat -> 0 < Z S i.
Proof.
  intros Hi. destruct (Hkeep i Hi) as (k & Hk & Ek). apply (sum_pos n _ k); [|exact Hk|].
  - intros l _. destruct (keep i l); [|lra]. apply Rlt_le, exp_pos.
  - rewrite Ek. apply exp_pos.
Qed.

Lemma softmax_back :
  exists C', moves2 m n (fun t => W (p t)) x (W A) C' /\
  forall G, paired2 m n G C' =
    paired2 m n (fun i j => W A i j * (G i j - sum n (fun l => G i l * W A i l))) A'.
Proof.
  exists (fun i j => W A i j * (A' i j - sum n (fun l => W A i l * A' i l))). split.
  - intros i j Hi Hj. pose proof (normaliser_pos A i Hi) as P.
    assert (E : forall k, (k < n)%nat -> passes (fun t => if keep i k then exp (p t i k) else 0) x
      (if keep i k then exp (A i k) else 0) (if keep i k then exp (A i k) * A' i k else 0)).
    { intros k Hk. destruct (keep i k); [|apply passes_const].
      exact (passes_exp _ _ _ _ (HA i k Hi Hk)). }
    pose proof (passes_sum n (fun t k => if keep i k then exp (p t i k) else 0) x _ _ E) as S.
    specialize (E j Hj). unfold W. destruct (keep i j); [|rewrite Rmult_0_l; apply passes_const].
    destruct (passes_div _ _ _ _ _ _ _ E S (Rgt_not_eq _ _ P)) as [V D].
    split; [exact V|]. apply (slope_eq _ _ _ _ D). fold (Z A i).
    rewrite (sum_ext n (fun l => (if keep i l then exp (A i l) / Z A i else 0) * A' i l)
      (fun l => / Z A i * (if keep i l then exp (A i l) * A' i l else 0))).
    + rewrite sum_scal_l. field. lra.
    + intros l _. destruct (keep i l); unfold Rdiv; ring.
  - intros G. apply sum_ext. intros i _.
    rewrite (sum_ext n _ (fun j => G i j * W A i j * A' i j
      - G i j * W A i j * sum n (fun l => W A i l * A' i l))) by (intros; ring).
    rewrite sum_minus, sum_scal_r.
    rewrite (sum_ext n (fun j => W A i j * (G i j - sum n (fun l => G i l * W A i l)) * A' i j)
      (fun j => G i j * W A i j * A' i j
      - sum n (fun l => G i l * W A i l) * (W A i j * A' i j))) by (intros; ring).
    now rewrite sum_minus, sum_scal_l.
Qed.
End Softmax.

Section Pairs.
Hypothesis HB : moves2 m n q x B B'.

Lemma plus_back :
  exists C', moves2 m n (fun t i j => p t i j + q t i j) x (fun i j => A i j + B i j) C' /\
  forall G, paired2 m n G C' = paired2 m n G A' + paired2 m n G B'.
Proof.
  exists (fun i j => A' i j + B' i j). split.
  - intros i j Hi Hj. exact (passes_plus _ _ _ _ _ _ _ (HA i j Hi Hj) (HB i j Hi Hj)).
  - intros G. paired.
Qed.

Lemma minus_back :
  exists C', moves2 m n (fun t i j => p t i j - q t i j) x (fun i j => A i j - B i j) C' /\
  forall G, paired2 m n G C' = paired2 m n G A' + paired2 m n (fun i j => - G i j) B'.
Proof.
  exists (fun i j => A' i j - B' i j). split.
  - intros i j Hi Hj. exact (passes_minus _ _ _ _ _ _ _ (HA i j Hi Hj) (HB i j Hi Hj)).
  - intros G. paired.
Qed.

Lemma mult_back :
  exists C', moves2 m n (fun t i j => p t i j * q t i j) x (fun i j => A i j * B i j) C' /\
  forall G, paired2 m n G C' =
    paired2 m n (fun i j => G i j * B i j) A' + paired2 m n (fun i j => A i j * G i j) B'.
Proof.
  exists (fun i j => A' i j * B i j + A i j * B' i j). split.
  - intros i j Hi Hj. exact (passes_mult _ _ _ _ _ _ _ (HA i j Hi Hj) (HB i j Hi Hj)).
  - intros G. paired.
Qed.

Lemma div_back : (forall i j, (i < m)%nat -> (j < n)%nat -> B i j <> 0) ->
  exists C', moves2 m n (fun t i j => p t i j / q t i j) x (fun i j => A i j / B i j) C' /\
  forall G, paired2 m n G C' = paired2 m n (fun i j => G i j / B i j) A' +
    paired2 m n (fun i j => - (G i j * (A i j / B i j) / B i j)) B'.
Proof.
  intros N. exists (fun i j => A' i j / B i j - A i j * B' i j / B i j ^ 2). split.
  - intros i j Hi Hj.
    exact (passes_div _ _ _ _ _ _ _ (HA i j Hi Hj) (HB i j Hi Hj) (N i j Hi Hj)).
  - intros G. paired.
Qed.
End Pairs.

(** Side by side. *)
Lemma concat_back w l : w = (n + l)%nat -> moves2 m l q x B B' ->
  exists C', moves2 m w (fun t i j => if Nat.ltb j n then p t i j else q t i (j - n)%nat) x
    (fun i j => if Nat.ltb j n then A i j else B i (j - n)%nat) C' /\
  forall G, paired2 m w G C' =
    paired2 m n G A' + paired2 m l (fun i j => G i (n + j)%nat) B'.
Proof.
  intros -> HB. exists (fun i j => if Nat.ltb j n then A' i j else B' i (j - n)%nat). split.
  - intros i j Hi Hj. destruct (Nat.ltb_spec j n); [now apply HA | apply HB; lia].
  - intros G. unfold paired2. rewrite <- sum_plus. apply sum_ext. intros i _. rewrite sum_app.
    f_equal; apply sum_ext; intros j Hj.
    + now rewrite (proj2 (Nat.ltb_lt j n) Hj).
    + rewrite (proj2 (Nat.ltb_ge (n + j) n)) by lia. now rewrite Nat.add_comm, Nat.add_sub.
Qed.

Lemma matmul_back {d} : moves2 n d q x B B' ->
  exists C', moves2 m d (fun t i j => sum n (fun k => p t i k * q t k j)) x
    (fun i j => sum n (fun k => A i k * B k j)) C' /\
  forall G, paired2 m d G C' = paired2 m n (fun i k => sum d (fun j => G i j * B k j)) A' +
    paired2 n d (fun k j => sum m (fun i => A i k * G i j)) B'.
Proof.
  intros HB. exists (fun i j => sum n (fun k => A' i k * B k j + A i k * B' k j)). split.
  - intros i j Hi Hj. apply (passes_sum n (fun t k => p t i k * q t k j)). intros k Hk.
    exact (passes_mult _ _ _ _ _ _ _ (HA i k Hi Hk) (HB k j Hk Hj)).
  - intros G. unfold paired2.
    rewrite (sum_ext m _ (fun i => sum n (fun k => sum d (fun j => G i j * B k j) * A' i k)
      + sum n (fun k => sum d (fun j => A i k * G i j * B' k j)))).
    + rewrite sum_plus. f_equal. rewrite (sum_swap m n). apply sum_ext. intros k _.
      rewrite (sum_swap m d). apply sum_ext. intros j _. apply sum_scal_r.
    + intros i _. rewrite (sum_ext d _ (fun j => sum n (fun k => G i j * B k j * A' i k)
        + sum n (fun k => A i k * G i j * B' k j))).
      * rewrite sum_plus. f_equal; rewrite (sum_swap d n); apply sum_ext; intros k _;
          [apply sum_scal_r | reflexivity].
      * intros j _. rewrite <- sum_scal_l, <- sum_plus. apply sum_ext. intros k _. ring.
Qed.
End Steps.

(** The loss that is linear in the output, with an upstream gradient [U]. *)
Lemma upstream_back {m n p x Y Y'} U : moves2 m n p x Y Y' ->
  is_derive (fun t => sum m (fun i => sum n (fun j => U i j * p t i j))) x (paired2 m n U Y').
Proof.
  intros H. eapply passes_slope.
  apply (passes_sum m (fun t i => sum n (fun j => U i j * p t i j)) x
    (fun i => sum n (fun j => U i j * Y i j)) (fun i => sum n (fun j => U i j * Y' i j))).
  intros i Hi. apply (passes_sum n (fun t j => U i j * p t i j)). intros j Hj.
  destruct (passes_mult _ _ _ _ _ _ _ (passes_const (U i j) x) (H i j Hi Hj)) as [V D].
  split; [exact V|]. apply (slope_eq _ _ _ _ D). ring.
Qed.

(** A loss that is one number, with the upstream gradient [u] before it. *)
Lemma number_back {p x Y Y'} u : moves2 1 1 p x Y Y' ->
  is_derive (fun t => u * p t 0%nat 0%nat) x (paired2 1 1 (fun _ _ => u) Y').
Proof.
  intros H. apply (slope_eq _ _ (sum 1 (fun i => sum 1 (fun j => u * Y' i j)))); [|reflexivity].
  simpl. rewrite !Rplus_0_l. destruct (H 0%nat 0%nat) as [_ D]; auto. eapply slope_eq.
  - apply (slope_mult (fun _ => u) (fun t => p t 0%nat 0%nat)); [apply slope_const | exact D].
  - cbv beta. ring.
Qed.

(** * Lines for all sizes *)

From Coq Require Import FunctionalExtensionality.

(** 1 where place i is not after place j, else 0. *)
Definition at_most (i j : nat) : R := if Nat.leb i j then 1 else 0.

Lemma at_most_true i j : (i <= j)%nat -> at_most i j = 1.
Proof. intros H. unfold at_most. now rewrite (proj2 (Nat.leb_le i j) H). Qed.

Lemma at_most_false i j : (j < i)%nat -> at_most i j = 0.
Proof. intros H. unfold at_most. destruct (Nat.leb_spec i j); [lia|reflexivity]. Qed.

Ltac by_places := unfold at_most, delta;
  repeat match goal with |- context [Nat.leb ?i ?j] => destruct (Nat.leb_spec i j) end;
  match goal with |- context [Nat.eqb ?i ?j] => destruct (Nat.eqb_spec i j) end; (lia || lra).
Lemma at_most_next i j : at_most i (j + 1) = at_most i j + delta i (j + 1).
Proof. by_places. Qed.
Lemma at_most_first i : at_most i 0 = delta i 0. Proof. now destruct i. Qed.
Lemma at_most_before i k j : at_most (i + S k) j = at_most (i + k) j - delta (i + k) j.
Proof. by_places. Qed.

(** ** Permutations *)

Definition permutes (n : nat) (p : nat -> nat) : Prop := exists q, forall i, (i < n)%nat ->
  (p i < n)%nat /\ (q i < n)%nat /\ q (p i) = i /\ p (q i) = i.

Lemma permutes_within n p i : permutes n p -> (i < n)%nat -> (p i < n)%nat.
Proof. intros [q H] I. now apply H. Qed.

Lemma sum_permuted n p f : permutes n p -> sum n (fun i => f (p i)) = sum n f.
Proof.
  intros [q H].
  rewrite (sum_ext _ _ (fun i => sum n (fun k => delta (p i) k * f k)))
    by (intros i I; symmetry; apply sum_delta; now apply H).
  rewrite sum_swap. apply sum_ext. intros k K. destruct (H k K) as (_ & Q & _ & E).
  rewrite (sum_ext _ _ (fun i => delta (q k) i * f k)); [now apply (sum_delta n (q k) (fun _ => f k))|].
  intros i I. f_equal. destruct (Nat.eq_dec (p i) k) as [<-|N].
  - destruct (H i I) as (_ & _ & -> & _). now rewrite !delta_same.
  - rewrite !delta_other; [reflexivity | intros <-; tauto | exact N].
Qed.

(** ** Arrays of three and four axes *)

Definition put3 (A : nat -> nat -> nat -> R) (i j k : nat) (x : R) (a : nat) : nat -> nat -> R :=
  if Nat.eqb a i then put2 (A a) j k x else A a.
Definition put4 (A : nat -> nat -> nat -> nat -> R) (i j k l : nat) (x : R) (a : nat) :
  nat -> nat -> nat -> R :=
  if Nat.eqb a i then put3 (A a) j k l x else A a.

(** ** Slopes of what is written down *)

(** The error function. *)
Definition erf (x : R) : R := 2 / sqrt PI * RInt (fun t => exp (- t ^ 2)) 0 x.

Lemma erf_slope x : is_derive erf x (2 / sqrt PI * exp (- x ^ 2)).
Proof.
  assert (C : forall y, continuous (fun t => exp (- t ^ 2)) y).
  { intros y. apply (ex_derive_continuous (fun t : R => exp (- t ^ 2))). auto_derive. exact I. }
  apply is_derive_scal. apply (is_derive_RInt (fun t : R => exp (- t ^ 2)) _ 0 x); [|apply C].
  exists (mkposreal 1 Rlt_0_1). intros y _. apply (@RInt_correct R_CompleteNormedModule).
  apply (@ex_RInt_continuous R_CompleteNormedModule). intros z _. apply C.
Qed.

Lemma passes_erf f x v d : passes f x v d ->
  passes (fun t => erf (f t)) x (erf v) (2 / sqrt PI * exp (- v ^ 2) * d).
Proof. apply (passes_after erf), erf_slope. Qed.
Lemma passes_put3 A i j k a b c : passes (fun t => put3 A i j k t a b c) (A i j k) (A a b c)
  (delta a i * (delta b j * delta c k)).
Proof.
  unfold put3, delta at 1. destruct (Nat.eqb_spec a i) as [->|N].
  - rewrite Rmult_1_l. apply passes_put2.
  - rewrite Rmult_0_l. apply passes_const.
Qed.

Lemma passes_put4 A i j k l a b c e : passes (fun t => put4 A i j k l t a b c e) (A i j k l)
  (A a b c e) (delta a i * (delta b j * (delta c k * delta e l))).
Proof.
  unfold put4, delta at 1. destruct (Nat.eqb_spec a i) as [->|N].
  - rewrite Rmult_1_l. apply passes_put3.
  - rewrite Rmult_0_l. apply passes_const.
Qed.

(** ** Gradients of losses, by slopes *)

Definition gradient3 (l m n : nat) (L : (nat -> nat -> nat -> R) -> R)
  (A G : nat -> nat -> nat -> R) : Prop :=
  forall p x A', (forall i j k, (i < l)%nat -> (j < m)%nat -> (k < n)%nat ->
    passes (fun t => p t i j k) x (A i j k) (A' i j k)) ->
  is_derive (fun t => L (p t)) x
    (sum l (fun i => sum m (fun j => sum n (fun k => G i j k * A' i j k)))).
Definition gradient4 (h l m n : nat) (L : (nat -> nat -> nat -> nat -> R) -> R)
  (A G : nat -> nat -> nat -> nat -> R) : Prop :=
  forall p x A', (forall a i j k, (a < h)%nat -> (i < l)%nat -> (j < m)%nat -> (k < n)%nat ->
    passes (fun t => p t a i j k) x (A a i j k) (A' a i j k)) ->
  is_derive (fun t => L (p t)) x
    (sum h (fun a => sum l (fun i => sum m (fun j => sum n (fun k => G a i j k * A' a i j k))))).

(** ** Signs *)

Lemma INR_pos n : (0 < n)%nat -> 0 < INR n. Proof. exact (lt_0_INR n). Qed.

Lemma sum_pos_all n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof. intros N H. apply (sum_pos n f 0); auto using Rlt_le. Qed.

Lemma pow_pos x k : 0 < x -> 0 < x ^ k. Proof. exact (pow_lt x k). Qed.

Lemma at_most_nonneg i j : 0 <= at_most i j.
Proof. unfold at_most. destruct (Nat.leb i j); lra. Qed.

Lemma delta_nonneg i j : 0 <= delta i j. Proof. unfold delta. destruct (Nat.eqb i j); lra. Qed.

Lemma delta_at_most_1 i j : 0 <= 1 - delta i j.
Proof. unfold delta. destruct (Nat.eqb i j); lra. Qed.

Create HintDb lines.

Ltac bounds :=
  solve [match goal with H : ?P |- ?P => exact H end | eassumption
  | match goal with H : permutes ?n ?p |- (?p _ < ?n)%nat => apply (permutes_within n p _ H); bounds end
  | lia].

(** 0 < x, or 0 <= x, by the form of x. *)
Ltac positive :=
  match goal with
  | |- 0 < exp _ => apply exp_pos
  | H : 0 < ?x |- 0 < ?x => exact H
  | H : ?x > 0 |- 0 < ?x => exact H
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; positive
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; positive
  | |- 0 < / _ => apply Rinv_0_lt_compat; positive
  | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
  | |- 0 < _ ^ _ => apply pow_pos; positive
  | |- 0 < INR _ => apply INR_pos; bounds
  | |- 0 < PI => apply PI_RGT_0
  | |- 0 < at_most ?i ?i => unfold at_most; rewrite Nat.leb_refl; lra
  | |- 0 < at_most _ _ => rewrite at_most_true by lia; lra
  | |- 0 < delta ?i ?i => rewrite delta_same; lra
  | |- 0 < sum _ _ => apply sum_pos_all; [bounds | intros; positive]
  | |- 0 < sum _ _ => sum_witness
  | |- 0 < _ + _ => apply Rplus_lt_le_0_compat; [positive | not_below]
  | |- 0 < _ + _ => apply Rplus_le_lt_0_compat; [not_below | positive]
  | |- 0 < ?x => lazymatch x with 1 => apply Rlt_0_1 | IZR _ => lra end
  | |- 0 < _ => progress autounfold with lines; cbv beta; positive
  end
with not_below :=
  match goal with
  | |- 0 <= at_most _ _ => apply at_most_nonneg
  | |- 0 <= 1 - delta _ _ => apply delta_at_most_1
  | |- 0 <= delta _ _ => apply delta_nonneg
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= ?x * ?x => apply Rle_0_sqr
  | |- 0 <= 0 => apply Rle_refl
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= sum _ _ => apply sum_nonneg; intros; not_below
  | |- 0 <= _ => apply Rlt_le; positive
  | |- 0 <= _ * _ => apply Rmult_le_pos; not_below
  | |- 0 <= _ / _ => apply Rmult_le_pos; [not_below | apply Rlt_le, Rinv_0_lt_compat; positive]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; not_below
  | |- 0 <= _ => progress autounfold with lines; cbv beta; not_below
  end
with sum_witness :=
  match goal with
  | i : nat |- 0 < sum ?n ?f =>
    apply (sum_pos n f i); [intros; not_below | bounds | cbv beta; positive]
  | |- 0 < sum ?n ?f =>
    apply (sum_pos n f 0%nat); [intros; not_below | bounds | cbv beta; positive]
  end.

Ltac nonzero :=
  cbv beta;
  repeat match goal with |- _ /\ _ => split end;
  try match goal with H : ?P |- ?P => exact H end;
  lazymatch goal with
  | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
  | |- _ ^ _ <> 0 => apply pow_nonzero; nonzero
  | |- / _ <> 0 => apply Rinv_neq_0_compat; nonzero
  | |- - _ <> 0 => apply Ropp_neq_0_compat; nonzero
  | |- _ <> 0 => first [ solve [apply Rgt_not_eq, Rlt_gt; positive]
                       | match goal with H : _ <> 0 |- _ => solve [apply H; bounds] end
                       | solve [autounfold with lines in *; cbv beta in *; auto] ]
  | |- _ => idtac
  end.

Ltac above := solve [positive
  | match goal with H : _ |- _ => solve [apply H; bounds] end].

Lemma put1_same A i : put1 A i (A i) = A.
Proof.
  apply functional_extensionality. intros a. unfold put1. now destruct (Nat.eqb_spec a i) as [->|N].
Qed.
Lemma put2_same A i j : put2 A i j (A i j) = A.
Proof.
  do 2 (apply functional_extensionality; intros ?). unfold put2.
  destruct (Nat.eqb_spec x i) as [->|N]; [now destruct (Nat.eqb_spec x0 j) as [->|N]|reflexivity].
Qed.

Lemma put3_same A i j k : put3 A i j k (A i j k) = A.
Proof.
  apply functional_extensionality; intros a. unfold put3.
  destruct (Nat.eqb_spec a i) as [->|N]; [apply put2_same|reflexivity].
Qed.
Lemma put4_same A i j k l : put4 A i j k l (A i j k l) = A.
Proof.
  apply functional_extensionality; intros a. unfold put4.
  destruct (Nat.eqb_spec a i) as [->|N]; [apply put3_same|reflexivity].
Qed.
Lemma passes_value f x v w d : passes f x v d -> f x = w -> passes f x w d.
Proof. intros [V D] W. now split. Qed.

(** A loss of what moves in one entry only. *)
Lemma passes_loss1 n L A G i : gradient1 n L A G -> (i < n)%nat ->
  passes (fun t => L (put1 A i t)) (A i) (L A) (G i).
Proof.
  intros H I. split; [now rewrite put1_same|].
  eapply slope_eq; [apply (H (put1 A i)), put1_moves |].
  unfold paired1; rewrite <- (sum_delta n i G I); apply sum_ext; intros; ring.
Qed.
Lemma passes_loss2 m n L A G i j : gradient2 m n L A G -> (i < m)%nat -> (j < n)%nat ->
  passes (fun t => L (put2 A i j t)) (A i j) (L A) (G i j).
Proof.
  intros H I J. split; [now rewrite put2_same|].
  eapply slope_eq; [apply (H (put2 A i j)), put2_moves | now apply paired2_unit].
Qed.

Ltac head t := lazymatch t with ?f _ => head f | _ => t end.
(** The slope of what is written with sums and functions, the value and derivative found on the
    way: [passes f x ?v ?d]. *)
Ltac slopes :=
  lazymatch goal with
  | |- passes (fun _ => ?c) _ _ _ => apply passes_const
  | |- passes (fun t => t) _ _ _ => apply passes_id
  | |- passes (fun t => put1 _ _ t _) _ _ _ => apply passes_put1
  | |- passes (fun t => put2 _ _ _ t _ _) _ _ _ => apply passes_put2
  | |- passes (fun t => put3 _ _ _ _ t _ _ _) _ _ _ => apply passes_put3
  | |- passes (fun t => put4 _ _ _ _ _ t _ _ _ _) _ _ _ => apply passes_put4
  | |- passes (fun t => @?f t + @?g t) _ _ _ => eapply (passes_plus f g); slopes
  | |- passes (fun t => @?f t - @?g t) _ _ _ => eapply (passes_minus f g); slopes
  | |- passes (fun t => - @?f t) _ _ _ => eapply (passes_opp f); slopes
  | |- passes (fun t => @?f t * @?g t) _ _ _ => eapply (passes_mult f g); slopes
  | |- passes (fun t => @?f t / @?g t) _ _ _ => eapply (passes_div f g); [slopes | slopes | nonzero]
  | |- passes (fun t => / @?g t) _ _ _ => eapply (passes_inv g); [slopes | nonzero]
  | |- passes (fun t => exp (@?f t)) _ _ _ => eapply (passes_exp f); slopes
  | |- passes (fun t => ln (@?f t)) _ _ _ => eapply (passes_ln f); [slopes | above]
  | |- passes (fun t => sqrt (@?f t)) _ _ _ => eapply (passes_sqrt f); [slopes | above]
  | |- passes (fun t => sin (@?f t)) _ _ _ => eapply (passes_sin f); slopes
  | |- passes (fun t => erf (@?f t)) _ _ _ => eapply (passes_erf f); slopes
  | |- passes (fun t => cos (@?f t)) _ _ _ => eapply (passes_cos f); slopes
  | |- passes (fun t => tanh (@?f t)) _ _ _ => eapply (passes_tanh f); slopes
  | |- passes (fun t => @?f t ^ 2) _ _ _ => eapply (passes_square f); slopes
  | |- passes (fun t => @?f t ^ 3) _ _ _ => eapply (passes_cube f); slopes
  | |- passes (fun t => @?f t ^ _) _ _ _ => eapply (passes_pow _ f); slopes
  | |- passes (fun t => sum _ (@?f t)) _ _ _ =>
    eapply (passes_sum _ f); let i := fresh "i" in intros i ?; cbv beta; slopes
  | |- passes (fun t => Derive (@?h t) (@?y t)) _ _ _ =>
    eapply passes_ext; [intros ?; eapply passes_unique; slopes | cbv beta; slopes]
  | |- passes _ _ _ _ =>
    first [ eapply passes_loss1; [match goal with H : gradient1 _ _ _ _ |- _ => exact H end | bounds]
          | eapply passes_loss2;
            [match goal with H : gradient2 _ _ _ _ _ |- _ => exact H end | bounds | bounds]
          | match goal with H : _ |- _ => eapply H; bounds end
          | open_head ]
  end
(** The function that moves, opened; its value stays as it is written where one entry moves. *)
with open_head := lazymatch goal with
  | |- passes ?f ?x _ _ =>
    let e := eval cbv beta in (f x) in
    let h := head e in
    first [ lazymatch e with
            | context [put1] => idtac | context [put2] => idtac | context [put3] => idtac
            | context [put4] => idtac
            end;
            eapply passes_value;
            [ unfold h; cbv beta; slopes
            | cbv beta; rewrite ?put1_same, ?put2_same, ?put3_same, ?put4_same; exact eq_refl ]
          | unfold h; cbv beta; slopes ]
  end.
(** The slope of an elementary function by itself. *)
Ltac own_slope := lazymatch goal with |- is_derive ?f _ _ =>
  eapply slope_eq; [eapply (passes_slope (fun t => f t)); slopes | unfold Rdiv; ring] end.

(** ** Sums of products in a normal form *)

(** A polynomial is m1 + (m2 + (... + 0)), a product f1 * (f2 * (... * 1)). *)
Lemma nf_plus a b p q r : a = p -> b = q -> p + q = r -> a + b = r. Proof. now intros -> -> H. Qed.
Lemma nf_minus a b p q s r : a = p -> b = q -> (-1 * 1 + 0) * q = s -> p + s = r -> a - b = r.
Proof. intros -> -> H <-. rewrite <- H. ring. Qed.
Lemma nf_opp a p r : a = p -> (-1 * 1 + 0) * p = r -> - a = r. Proof. intros -> <-. ring. Qed.
Lemma nf_mult a b p q r : a = p -> b = q -> p * q = r -> a * b = r. Proof. now intros -> -> H. Qed.
Lemma nf_div a b p q r : a = p -> / b = q -> p * q = r -> a / b = r. Proof. now intros -> <- H. Qed.
Lemma nf_square a p r : a = p -> p * p = r -> a ^ 2 = r. Proof. intros -> <-. ring. Qed.
Lemma nf_cube a p s r : a = p -> p * p = s -> p * s = r -> a ^ 3 = r.
Proof. intros -> <- <-. ring. Qed.
Lemma nf_atom a : a = a * 1 + 0. Proof. ring. Qed.
Lemma nf_one : 1 = 1 + 0. Proof. ring. Qed.

Lemma append_nil q : 0 + q = q. Proof. ring. Qed.
Lemma append_cons m p q r : p + q = r -> (m + p) + q = m + r. Proof. intros <-. ring. Qed.
Lemma times_nil q : 0 * q = 0. Proof. ring. Qed.
Lemma times_cons m p q r s t : m * q = r -> p * q = s -> r + s = t -> (m + p) * q = t.
Proof. intros <- <- <-. ring. Qed.
Lemma each_nil m : m * 0 = 0. Proof. ring. Qed.
Lemma each_cons m k q r s : m * k = r -> m * q = s -> m * (k + q) = r + s.
Proof. intros <- <-. ring. Qed.
Lemma join_nil m : 1 * m = m. Proof. ring. Qed.
Lemma join_cons f m k r s : m * k = r -> f * r = s -> (f * m) * k = s.
Proof. intros <- <-. ring. Qed.
Lemma drop_inv f r : f <> 0 -> f * (/ f * r) = r. Proof. intros N. field. exact N. Qed.
Lemma drop_same f r : f <> 0 -> / f * (f * r) = r. Proof. intros N. field. exact N. Qed.
Lemma drop_twice f r : f * f = f -> f * (f * r) = f * r.
Proof. intros H. rewrite <- Rmult_assoc, H. reflexivity. Qed.
Lemma drop_later f g r s : f * r = s -> f * (g * r) = g * s. Proof. intros <-. ring. Qed.

Lemma rejoin_cons a f m s r : f * m = s -> a * s = r -> a * f * m = r.
Proof. intros <- <-. ring. Qed.

Lemma inv_product f m r : / m = r -> / (f * m) = / f * r. Proof. intros <-. apply Rinv_mult. Qed.
Lemma inv_single m r : / m = r -> / (m + 0) = r + 0. Proof. intros <-. now rewrite !Rplus_0_r. Qed.
Lemma inv_inv f m r : / m = r -> / (/ f * m) = f * r.
Proof. intros <-. rewrite Rinv_mult, Rinv_inv. reflexivity. Qed.
Lemma inv_nf a p r : a = p -> / p = r -> / a = r. Proof. now intros -> H. Qed.
Lemma inv_atom p : / p = / p * 1 + 0. Proof. ring. Qed.

Lemma nf_exp a p r : a = p -> exp p = r -> exp a = r + 0. Proof. intros -> <-. ring. Qed.
Lemma exp_nil : exp 0 = 1. Proof. exact exp_0. Qed.
Lemma exp_cons m p q r s : exp m = q -> exp p = r -> q * r = s -> exp (m + p) = s.
Proof. intros <- <- <-. apply exp_plus. Qed.
Lemma exp_minus m r q : exp m = r -> / r = q -> exp (-1 * m) = q.
Proof. intros <- <-. rewrite <- exp_Ropp. f_equal. ring. Qed.
Lemma exp_twice m r q : exp m = r -> r * r = q -> exp (2 * m) = q.
Proof. intros <- <-. rewrite <- exp_plus. f_equal. ring. Qed.
Lemma exp_turn f g m r : exp (g * (f * m)) = r -> exp (f * (g * m)) = r.
Proof. intros <-. f_equal. ring. Qed.
Lemma minus_two m : -2 * m = -1 * (2 * m). Proof. ring. Qed.
Lemma turn f g m : f * (g * m) = g * (f * m). Proof. ring. Qed.
Lemma exp_ln_of x : 0 < x -> exp (ln x * 1) = x * 1.
Proof. intros H. rewrite !Rmult_1_r. now apply exp_ln. Qed.
Lemma exp_of f : exp (f * 1) = exp f * 1. Proof. now rewrite !Rmult_1_r. Qed.
Lemma exp_other m : exp m = exp m * 1. Proof. ring. Qed.
Lemma nf_ln a p r : a = p -> ln p = r -> ln a = r. Proof. now intros -> H. Qed.
Lemma ln_single m r : ln m = r -> ln (m + 0) = r. Proof. now rewrite Rplus_0_r. Qed.
Lemma ln_one : ln 1 = 0. Proof. exact ln_1. Qed.
Lemma ln_exp_of a m p q r : 0 < m -> a = p -> ln m = q -> p + q = r -> ln (exp a * m) = r.
Proof. intros M -> <- <-. rewrite ln_mult, ln_exp by auto using exp_pos. reflexivity. Qed.
Lemma ln_inv_of f m p q s r : 0 < f -> 0 < m -> ln (f * 1) = p -> (-1 * 1 + 0) * p = s ->
  ln m = q -> s + q = r -> ln (/ f * m) = r.
Proof.
  intros F M P <- <- <-. rewrite Rmult_1_r in P. subst p.
  rewrite ln_mult, ln_Rinv by auto using Rinv_0_lt_compat. ring.
Qed.
Lemma ln_of f m q : 0 < f -> 0 < m -> ln m = q -> ln (f * m) = ln f * 1 + q.
Proof. intros F M <-. rewrite ln_mult by auto. ring. Qed.
Lemma cos_apart a b t : cos ((a - b) * t) = cos (a * t) * cos (b * t) + sin (a * t) * sin (b * t).
Proof. rewrite Rmult_minus_distr_r. apply cos_minus. Qed.
Lemma sin_apart a b t : sin ((a - b) * t) = sin (a * t) * cos (b * t) - cos (a * t) * sin (b * t).
Proof. rewrite Rmult_minus_distr_r. apply sin_minus. Qed.
Lemma cos_along a b t : cos ((a + b) * t) = cos (a * t) * cos (b * t) - sin (a * t) * sin (b * t).
Proof. rewrite Rmult_plus_distr_r. apply cos_plus. Qed.
Lemma sin_along a b t : sin ((a + b) * t) = sin (a * t) * cos (b * t) + cos (a * t) * sin (b * t).
Proof. rewrite Rmult_plus_distr_r. apply sin_plus. Qed.
Lemma cos_cos x : cos x * cos x = 1 - sin x * sin x.
Proof. rewrite <- (sin2_cos2 x). unfold Rsqr. ring. Qed.
Lemma nf_sqrt a p r : a = p -> sqrt p = r -> sqrt a = r + 0. Proof. intros -> <-. ring. Qed.
Lemma sqrt_single m r : sqrt m = r -> sqrt (m + 0) = r. Proof. now rewrite Rplus_0_r. Qed.
Lemma sqrt_inv_of f m r : 0 < f -> sqrt m = r -> sqrt (/ f * m) = / sqrt f * r.
Proof.
  intros F <-. rewrite sqrt_mult_alt by now apply Rlt_le, Rinv_0_lt_compat.
  now rewrite inv_sqrt_depr.
Qed.
Lemma sqrt_of f m r : 0 < f -> sqrt m = r -> sqrt (f * m) = sqrt f * r.
Proof. intros F <-. now rewrite sqrt_mult_alt by now apply Rlt_le. Qed.
Lemma nf_sum n f p r : (forall i, (i < n)%nat -> f i = p i) -> sum n p = r -> sum n f = r.
Proof. intros H <-. now apply sum_ext. Qed.
Lemma split_nil n : sum n (fun _ => 0) = 0. Proof. apply sum_0. Qed.
Lemma split_cons n m p r s t : sum n (fun i => 1 * m i) = r -> sum n p = s -> r + 0 + s = t ->
  sum n (fun i => m i + p i) = t.
Proof.
  intros <- <- <-. rewrite sum_plus. f_equal. rewrite Rplus_0_r. apply sum_ext. intros; ring.
Qed.
Lemma pull_fixed n a c m r :
  sum n (fun i => a i * m i) = r -> sum n (fun i => a i * (c * m i)) = c * r.
Proof. intros <-. rewrite <- sum_scal_l. apply sum_ext. intros; ring. Qed.
Lemma pull_first n f m r : sum n (fun i => f i * m i) = r -> sum n (fun i => 1 * (f i * m i)) = r.
Proof. intros <-. apply sum_ext. intros; ring. Qed.
Lemma pull_keep n a f m r :
  sum n (fun i => (a i * f i) * m i) = r -> sum n (fun i => a i * (f i * m i)) = r.
Proof. intros <-. apply sum_ext. intros; ring. Qed.
Lemma pull_delta n a k m r :
  (k < n)%nat -> a k * m k = r -> sum n (fun i => a i * (delta i k * m i)) = r.
Proof.
  intros K <-. rewrite <- (sum_delta n k (fun i => a i * m i) K). apply sum_ext.
  intros; rewrite delta_sym; ring.
Qed.
Lemma pull_delta' n a k m r :
  (k < n)%nat -> a k * m k = r -> sum n (fun i => a i * (delta k i * m i)) = r.
Proof.
  intros K <-. rewrite <- (sum_delta n k (fun i => a i * m i) K). apply sum_ext. intros; ring.
Qed.
Lemma pull_end n a : sum n (fun i => a i * 1) = sum n a * 1.
Proof. rewrite Rmult_1_r. apply sum_ext. intros; ring. Qed.
Lemma pull_cited n a v : sum n a = v -> sum n (fun i => a i * 1) = v * 1.
Proof. intros <-. apply pull_end. Qed.
Lemma pull_none n : sum n (fun _ => 1 * 1) = INR n * 1. Proof. rewrite sum_const. ring. Qed.

(** What is cited by a line, an equation whose left side begins with h. *)
Definition cited {T : Type} (h : T) (P : Prop) : Prop := P.
Create HintDb partials.

(** A derivative as an equation, whatever it is for. *)
Ltac equation H := lazymatch type of H with
  | is_derive ?f ?x ?d => constr:(is_derive_unique f x d H)
  | forall i : ?A, _ => let i := fresh in
    constr:(fun i : A => ltac:(let r := equation (H i) in exact r))
  | _ => H
  end.
Ltac begins H := lazymatch type of H with
  | ?a = _ => head a
  | forall i : ?A, _ =>
    let i := fresh in let f := constr:(fun i : A => ltac:(let h := begins (H i) in exact h)) in
    lazymatch f with fun _ => ?h => h end
  end.
Ltac cite H :=
  let E := equation H in
  let F := fresh "said" in
  pose proof E as F; autounfold with partials in F; cbv beta in F;
  let h := begins F in
  let P := type of F in
  change (cited h P) in F.

Ltac append := lazymatch goal with
  | |- 0 + _ = _ => apply append_nil
  | |- (_ + _) + _ = _ => eapply append_cons; append
  end.
(** f * r = ?s, a factor 1 / f dropped with f. *)
Ltac dropping := lazymatch goal with
  | |- ?f * (/ ?f * _) = _ => apply drop_inv; nonzero
  | |- / ?f * (?f * _) = _ => apply drop_same; nonzero
  | |- ?f * (?f * _) = _ => apply drop_twice; match goal with C : cited Rmult _ |- _ => apply C; bounds end
  | |- ?f * (?g * _) = _ => apply drop_later; dropping
  end.
Ltac drop := lazymatch goal with
  | |- ?f * ?r = _ =>
    first [ lazymatch f with
            | / ?g => lazymatch r with context [g * _] => idtac end
            | _ => match r with
                   | context [/ f * _] => idtac
                   | context [f * _] => match goal with C : cited Rmult _ |- _ => idtac end
                   end
            end; dropping
          | exact (eq_refl (f * r)) ]
  end.
Ltac join := cbv beta; lazymatch goal with
  | |- 1 * _ = _ => apply join_nil
  | |- (_ * _) * _ = _ => eapply join_cons; [join | drop]
  end.
Ltac each := lazymatch goal with
  | |- _ * 0 = _ => apply each_nil
  | |- _ * (_ + _) = _ => eapply each_cons; [join | each]
  end.
Ltac times := lazymatch goal with
  | |- 0 * _ = _ => apply times_nil
  | |- (_ + _) * _ = _ => eapply times_cons; [each | times | append]
  end.
Ltac keep n a f m := lazymatch a with
  | fun _ => 1 => apply (pull_first n f m)
  | _ => apply (pull_keep n a f m)
  end.
(** A product of f1 * f2 * ... with one in the normal form. *)
Ltac rejoin := cbv beta; lazymatch goal with
  | |- 1 * _ = _ => apply join_nil
  | |- _ * _ * ?m = _ => eapply rejoin_cons; [drop | rejoin]
  | |- _ => drop
  end.
(** A sum over the places where a permutation sends an index, as the sum over all places. *)
Ltac reindex n a := match goal with
  | P : permutes n ?p |- _ =>
    let i := fresh in let g := constr:(fun i : nat => ltac:(
      let b := eval cbv beta in (a i) in
      let h := eval pattern (p i) in b in
      lazymatch h with ?h _ => exact h end)) in
    lazymatch g with fun _ => ?h =>
      exact (f_equal (fun s => s * 1) (sum_permuted n p h P))
    end
  end.
Ltac pull := cbv beta; lazymatch goal with
  | |- sum ?n (fun _ => 1 * 1) = _ => apply pull_none
  | |- sum ?n (fun i => @?a i * 1) = _ =>
    first
    [ eapply eq_trans; [exact (pull_end n a) | reindex n a]
    | match goal with
      | C : cited sum _ |- _ =>
        let E := fresh in
        first [assert (E : sum n a = 1) by (apply C; bounds) | assert (E : sum n a = 0) by (apply C; bounds)];
        exact (pull_cited n a _ E)
      end
    | exact (pull_end n a) ]
  | |- sum ?n (fun i => @?a i * (@?f i * @?m i)) = _ =>
    lazymatch f with
    | fun _ => ?c => apply (pull_fixed n a c m); pull
    | fun i => delta i (@?k i) =>
      lazymatch k with
      | fun _ => ?k => apply (pull_delta n a k m); [bounds | rejoin]
      | _ => keep n a f m; pull
      end
    | fun i => delta (@?k i) i =>
      lazymatch k with
      | fun _ => ?k => apply (pull_delta' n a k m); [bounds | rejoin]
      | _ => keep n a f m; pull
      end
    | _ => keep n a f m; pull
    end
  end.
Ltac split_sum := cbv beta; lazymatch goal with
  | |- sum ?n (fun _ => 0) = _ => apply split_nil
  | |- sum ?n (fun i => @?m i + @?p i) = _ =>
    eapply (split_cons n m p); [pull | split_sum | append0]
  end
with append0 := lazymatch goal with
  | |- _ + 0 + _ = _ => eapply append_cons; apply append_nil
  end.
Ltac invert := lazymatch goal with
  | |- / (?m + 0) = _ => first [apply inv_single; invert_product | apply inv_atom]
  | |- / _ = _ => apply inv_atom
  end
with invert_product := lazymatch goal with
  | |- / 1 = _ => apply Rinv_1
  | |- / (/ _ * _) = _ => eapply inv_inv; invert_product
  | |- / (_ * _) = _ => eapply inv_product; invert_product
  end.

(** exp of a product, as a product: of its factors -1 and 2 are taken out. *)
Ltac exp_product := lazymatch goal with
  | |- exp (-1 * _) = _ => eapply exp_minus; [exp_product | invert_product]
  | |- exp (-2 * _) = _ => eapply eq_trans; [apply f_equal, minus_two | exp_product]
  | |- exp (2 * _) = _ => eapply exp_twice; [exp_product | join]
  | |- exp (ln ?x * 1) = _ => first [apply exp_ln_of; positive | apply exp_of]
  | |- exp (_ * (-1 * _)) = _ => apply exp_turn; exp_product
  | |- exp (_ * (2 * _)) = _ => apply exp_turn; exp_product
  | |- exp (_ * (_ * (-1 * _))) = _ =>
    eapply eq_trans; [apply f_equal, f_equal, turn | apply exp_turn; exp_product]
  | |- exp (_ * 1) = _ => apply exp_of
  | |- _ = _ => apply exp_other
  end.
Ltac exp_sum := lazymatch goal with
  | |- exp 0 = _ => apply exp_nil
  | |- exp (_ + _) = _ => eapply exp_cons; [exp_product | exp_sum | join]
  end.

(** sqrt of a product whose factors are above 0. *)
Ltac sqrt_product := lazymatch goal with
  | |- sqrt (_ + 0) = _ => eapply sqrt_single; sqrt_product
  | |- sqrt 1 = _ => apply sqrt_1
  | |- sqrt (/ _ * _) = _ => eapply sqrt_inv_of; [positive | sqrt_product]
  | |- sqrt (_ * _) = _ => eapply sqrt_of; [positive | sqrt_product]
  end.

(** e = ?p: the polynomial that e comes to. *)
Ltac normal :=
  cbv beta;
  first
  [ match goal with
    | C : cited ?h _ |- ?e = _ =>
      let h' := head e in constr_eq h h'; eapply eq_trans; [eapply C; bounds | clear C; normal]
    end
  | lazymatch goal with
    | |- 0 = _ => reflexivity
    | |- 1 = _ => apply nf_one
    | |- _ + _ = _ => eapply nf_plus; [normal | normal | append]
    | |- _ - _ = _ => eapply nf_minus; [normal | normal | times | append]
    | |- - _ = _ => eapply nf_opp; [normal | times]
    | |- _ * _ = _ => eapply nf_mult; [normal | normal | times]
    | |- _ / _ = _ => eapply nf_div; [normal | eapply inv_nf; [normal | invert] | times]
    | |- / _ = _ => eapply inv_nf; [normal | invert]
    | |- _ ^ 2 = _ => eapply nf_square; [normal | times]
    | |- _ ^ 3 = _ => eapply nf_cube; [normal | times | times]
    | |- sum _ _ = _ => eapply nf_sum;
        [let i := fresh "i" in intros i ?; cbv beta; normal | split_sum]
    | |- exp (ln _) = _ =>
      first [eapply eq_trans; [apply exp_ln; positive | normal] | apply nf_atom]
    | |- exp ?u = _ =>
      let h := head u in lazymatch h with
      | sum => apply nf_atom
      | _ => eapply nf_exp; [normal | exp_sum]
      end
    | |- ln ?u = _ => first [eapply nf_ln; [normal | ln_product] | apply nf_atom]
    | |- sqrt ?u = _ => first [eapply nf_sqrt; [normal | sqrt_product] | apply nf_atom]
    | |- at_most _ (_ + 1) = _ => eapply eq_trans; [apply at_most_next | normal]
    | |- at_most _ 0 = _ => eapply eq_trans; [apply at_most_first | normal]
    | |- at_most (_ + S _) _ = _ =>
      eapply eq_trans; [apply at_most_before | rewrite ?Nat.add_0_r; normal]
    | |- at_most _ _ = _ =>
      first [ eapply eq_trans; [apply at_most_true; lia | apply nf_one]
            | eapply eq_trans; [apply at_most_false; lia | exact eq_refl]
            | apply nf_atom ]
    | |- cos ((INR _ + 1) * _) = _ => apply nf_atom
    | |- sin ((INR _ + 1) * _) = _ => apply nf_atom
    | |- cos ((_ - _) * _) = _ => eapply eq_trans; [apply cos_apart | normal]
    | |- sin ((_ - _) * _) = _ => eapply eq_trans; [apply sin_apart | normal]
    | |- cos ((_ + _) * _) = _ => eapply eq_trans; [apply cos_along | normal]
    | |- sin ((_ + _) * _) = _ => eapply eq_trans; [apply sin_along | normal]
    | |- Derive _ _ = _ => 
      first [eapply eq_trans; [eapply passes_unique; slopes | normal] | apply nf_atom]
    | |- ?a = _ => apply (nf_atom a)
    end ]
(** ln of a product whose factors are above 0. *)
with ln_product := lazymatch goal with
  | |- ln (?m + 0) = _ => eapply ln_single; ln_product
  | |- ln 1 = _ => apply ln_one
  | |- ln (exp _ * _) = _ => eapply ln_exp_of; [positive | normal | ln_product | append]
  | |- ln (/ ?f * _) = _ =>
    eapply ln_inv_of; [positive | positive | ln_product | times | ln_product | append]
  | |- ln (_ * _) = _ => eapply ln_of; [positive | positive | ln_product]
  end.

Lemma by_normal (a b p q : R) : a = p -> b = q -> p = q -> a = b. Proof. now intros -> -> H. Qed.

Ltac same_index :=
  match goal with
  | |- context [delta ?i ?j] =>
    let E := fresh in
    destruct (Nat.eq_dec i j) as [E|E];
    [ rewrite ?E; rewrite ?delta_same
    | rewrite ?(delta_other i j E), ?(delta_other j i (not_eq_sym E)) ]
  end.

Lemma push_r n c f g : f = sum n g -> f * c = sum n (fun i => g i * c).
Proof. intros ->. symmetry. apply sum_scal_r. Qed.
Lemma push_l n c f g : f = sum n g -> c * f = sum n (fun i => c * g i).
Proof. intros ->. symmetry. apply sum_scal_l. Qed.
Lemma swapped m n f e : sum n (fun j => sum m (fun i => f i j)) = e ->
  sum m (fun i => sum n (fun j => f i j)) = e.
Proof. intros <-. apply sum_swap. Qed.

(** e = ?r, the sums of a product before it. *)
Ltac outer := cbv beta; lazymatch goal with
  | |- sum _ _ = _ => idtac
  | |- _ * _ = _ => first [eapply push_r; outer; exact eq_refl | eapply push_l; outer; exact eq_refl]
  end.
Ltac prenex := cbv beta; lazymatch goal with
  | |- sum ?n ?f = _ => apply (sum_ext n f); let i := fresh "i" in intros i ?; prenex
  | |- _ = _ =>
    first [eapply eq_trans; [outer; exact eq_refl | prenex]
          | lazymatch goal with |- ?a = _ => exact (eq_refl a) end]
  end.
(** Another of nested sums comes first. *)
Ltac second := apply swapped.
Ltac third := eapply eq_trans; [apply sum_ext; intros; cbv beta; apply sum_swap|]; apply swapped.
Ltac fourth :=
  eapply eq_trans; [apply sum_ext; intros; cbv beta; apply sum_ext; intros; cbv beta;
                    apply sum_swap|]; third.
(** Two nested sums are the same, in some order. *)
Ltac permuted := cbv beta; lazymatch goal with
  | |- sum _ _ = sum _ _ =>
    first [here | second; here | third; here | fourth; here]
  | |- _ => rewrite ?delta_same; first [solve [ring] | solve [field; nonzero]]
  end
with here := cbv beta; lazymatch goal with
  | |- sum ?n _ = sum ?n _ => apply sum_ext; let i := fresh "i" in intros i ?; permuted
  end.

(** How many factors stand in a product, and within its sums. *)
Ltac factors t := lazymatch t with
  | ?a * ?b => let m := factors a in let n := factors b in eval cbv in (m + n)%nat
  | sum _ ?f => let t := eval cbv beta in (f 0%nat) in factors t
  | 1 => constr:(0%nat)
  | _ => constr:(1%nat)
  end.
Ltac as_many n f m g :=
  let k := factors (sum n f) in let l := factors (sum m g) in constr_eq k l.
Ltac any_many n f m g := idtac.

(** Two sums are the same term by term, the order of inner sums aside. *)
Ltac same_sum depth :=
  first
  [ lazymatch goal with
    | |- sum ?n _ = sum ?n _ =>
      solve [ apply sum_ext; let i := fresh "i" in intros i ?; cbv beta; close depth ]
    end
  | solve [ eapply by_normal; [prenex | prenex | permuted] ] ]
with same_pairs alike depth :=
  repeat lazymatch goal with
  | |- ?l = ?r =>
    match l with
    | context [sum ?n ?f] =>
      match r with
      | context [sum ?m ?g] =>
        lazymatch f with g => fail | _ => idtac end;
        alike n f m g;
        let E := fresh in
        assert (E : sum n f = sum m g) by
          (lazymatch depth with S ?d => same_sum d end);
        rewrite E; clear E
      end
    end
  end
(** Two values of a function are the same where their arguments are. *)
with same_values depth :=
  repeat match goal with
  | |- context [?f ?a] =>
    lazymatch f with exp => idtac | ln => idtac | sqrt => idtac | erf => idtac | sin => idtac
    | cos => idtac end;
    match goal with
    | |- context [f ?b] =>
      lazymatch a with b => fail | _ => idtac end;
      let E := fresh in
      assert (E : a = b) by (lazymatch depth with S ?d =>
        first [solve [close d] | progress autounfold with lines; cbv beta; sums] end);
      rewrite E; clear E
    end
  end
with roots :=
  match goal with |- context [sqrt _] => idtac | |- context [sin _] => idtac end;
  repeat match goal with
  | |- context [sin ?x] =>
    let s := fresh "sine" in let c := fresh "cosine" in
    pose proof (cos_cos x);
    set (s := sin x) in *; set (c := cos x) in *; clearbody s c
  | |- context [sqrt ?u] =>
    let r := fresh "root" in let E := fresh in
    assert (E : sqrt u * sqrt u = u) by (apply sqrt_sqrt, Rlt_le; positive);
    assert (sqrt u <> 0) by nonzero;
    set (r := sqrt u) in *; clearbody r
  end;
  try (field_simplify_eq; [|nonzero]);
  match goal with
  | E : ?r * ?r = _ |- _ => ring [E]
  | E : ?r * ?r = _, F : ?s * ?s = _, G : ?t * ?t = _ |- _ => ring [E F G]
  | E : ?r * ?r = _, F : ?s * ?s = _ |- _ => ring [E F]
  end
with close depth :=
  rewrite ?delta_same;
  first [ lazymatch goal with |- ?a = ?a => exact (eq_refl a) end | solve [ring]
        | solve [field; nonzero]
        | progress same_pairs as_many depth; solve [close depth]
        | lazymatch depth with 3%nat => progress same_pairs any_many depth; solve [close depth] end
        | progress same_values depth; solve [close depth]
        | same_index; solve [close depth]
        | progress autounfold with lines; cbv beta; solve [close depth]
        | solve [roots] ]
with sums := intros; cbv beta;
  eapply by_normal; [normal | normal | cbv beta; first [close 3%nat | cited_sums]]
(** Cited equations whose left sides are found only now. *)
with cited_sums := match goal with
  | C : cited sum _ |- _ =>
    unfold cited in C; rewrite C by bounds; clear C; sums
  end.

Lemma passes_here f x v w d : passes f x v d -> v = w -> passes f x w (Derive f x).
Proof. intros [V D] <-. split; [exact V|]. now apply Derive_correct; exists d. Qed.
Lemma slope_from (f : R -> R) (x d e : R) : is_derive f x d -> Derive f x = e -> is_derive f x e.
Proof. intros H <-. now apply Derive_correct; exists d. Qed.

Ltac agrees := autounfold with lines partials; cbv beta;
  first [lazymatch goal with |- ?a = ?a => exact (eq_refl a) end | sums].
Ltac passing := intros; cbv beta;
  lazymatch goal with
  | |- _ = ?v /\ is_derive ?f ?x ?d => change (passes f x v d)
  | |- passes _ _ _ _ => idtac
  end.

(** A loss that depends on what moves through arrays whose gradient is known: by all of their
    entries. *)
Ltac along G q :=
  let H := fresh in
  pose proof (G q) as H; cbv beta in H; eapply H; clear H; unfold moves1, moves2; passing.
Ltac chain G q :=
  intros; eapply slope_eq;
  [ along G q; eapply passes_here; [slopes | agrees]
  | unfold paired1, paired2; cbv beta; lazymatch goal with |- ?a = _ => exact (eq_refl a) end ].

Ltac moving := repeat match goal with
  | H : moves1 ?n ?p ?x ?A ?B |- _ =>
    change (forall i, (i < n)%nat -> passes (fun t => p t i) x (A i) (B i)) in H
  | H : moves2 ?m ?n ?p ?x ?A ?B |- _ =>
    change (forall i j, (i < m)%nat -> (j < n)%nat ->
      passes (fun t => p t i j) x (A i j) (B i j)) in H
  end.
Ltac chained G q :=
  moving; eapply slope_eq;
  [ along G q; eapply passes_is; [slopes | agrees]
  | unfold paired1, paired2; autounfold with partials;
    first [solve [sums] | autounfold with lines in *; cbv beta in *; sums] ].

Ltac as_cited := match goal with
  | C : cited _ _ |- _ => eapply eq_trans; [eapply C; bounds|]; cbv beta;
    lazymatch goal with |- ?a = ?a => exact (eq_refl a) end
  end.
Ltac line_once :=
  lazymatch goal with |- _ /\ _ => split; [line_once | line_once] | _ => idtac end;
  first [ as_cited | lazymatch goal with
  | |- is_derive _ _ _ =>
    lazymatch goal with
    | C : cited (@Derive) _ |- _ => eapply slope_from; [eapply passes_slope; slopes | sums]
    | _ => eapply slope_eq; [eapply passes_slope; slopes | sums]
    end
  | |- _ = sum _ _ =>
    first [ solve [sums]
          | try (match goal with C : cited _ _ |- _ => eapply eq_trans; [eapply C; bounds |] end);
            apply sum_ext; intros; cbv beta; sums ]
  | |- _ = ln _ => first [solve [sums] | apply exp_inv; sums]
  | |- _ => sums
  end ].
Tactic Notation "line_within" integer(seconds) := timeout seconds (intros; autounfold with partials; cbv beta;
  first [solve [line_once] | autounfold with lines in *; cbv beta in *; solve [line_once]]).
Ltac line := line_within 60.
Ltac line_from H := intros; eapply slope_from; [eapply H; bounds | line].
