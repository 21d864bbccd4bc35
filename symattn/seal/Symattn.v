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

Lemma sum_is_sum_n n f : sum (S n) f = sum_n f n.
Proof.
  induction n as [|n IH].
  - rewrite sum_O. simpl. ring.
  - rewrite sum_Sn, <- IH. reflexivity.
Qed.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros H; simpl; [reflexivity|].
  rewrite IH, (H n) by auto with arith. reflexivity.
Qed.

Lemma sum_0 n : sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_opp n f : sum n (fun i => - f i) = - sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_scal_l n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_scal_r n c f : sum n (fun i => f i * c) = sum n f * c.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_div n c f : sum n (fun i => f i / c) = sum n f / c.
Proof. apply sum_scal_r. Qed.

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

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intros H; simpl; [lra|].
  assert (f n <= g n) by auto with arith. assert (sum n f <= sum n g) by auto with arith. lra.
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

Lemma sqrt_is x y : 0 <= y /\ x = y * y -> sqrt x = y.
Proof. intros [H ->]. now apply sqrt_square. Qed.
Lemma exp_at_0 x : x = 0 -> exp x = 1.
Proof. intros ->. apply exp_0. Qed.
Lemma ln_at_1 x : x = 1 -> ln x = 0.
Proof. intros ->. apply ln_1. Qed.

(** Opens what is defined here, where places are known. *)
Ltac opened := cbv [sum by_rows choices causal nth Nat.leb Nat.add Nat.sub Nat.mul Nat.eqb delta].
(** Takes a root that is rational, and what is known at 0 and 1. *)
Ltac rational_root y := match goal with |- context [sqrt ?x] => rewrite (sqrt_is x y) by (split; lra) end.
Ltac known := repeat match goal with
  | |- context [exp ?x] => rewrite (exp_at_0 x) by lra
  | |- context [ln ?x] => rewrite (ln_at_1 x) by lra
  end.
(** Bounds, from those that are known. *)
Ltac bounded := interval with (i_prec 120).
(** Takes a term for any number within what a lemma says of it. *)
Ltac taken t lemma := pose proof lemma; generalize dependent t; intros.
(** An equation of rational numbers, or of the same exponentials. *)
Ltac same := first [lra | field; repeat split; apply Rgt_not_eq; bounded | field].
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

Lemma slope_minus (f g : R -> R) (x a b : R) :
  is_derive f x a -> is_derive g x b -> is_derive (fun t => f t - g t) x (a - b).
Proof. intros Hf Hg. now apply @is_derive_minus. Qed.

Lemma slope_opp (f : R -> R) (x a : R) : is_derive f x a -> is_derive (fun t => - f t) x (- a).
Proof. intros Hf. now apply @is_derive_opp. Qed.

Lemma slope_mult (f g : R -> R) (x a b : R) :
  is_derive f x a -> is_derive g x b -> is_derive (fun t => f t * g t) x (a * g x + f x * b).
Proof. intros Hf Hg. apply (is_derive_mult f g x a b); auto. intros; apply Rmult_comm. Qed.

(** A function of one number after another: f after g. *)
Lemma slope_after (f g : R -> R) (x a b : R) :
  is_derive f (g x) a -> is_derive g x b -> is_derive (fun t => f (g t)) x (a * b).
Proof. intros Hf Hg. rewrite Rmult_comm. now apply (is_derive_comp f g). Qed.

Lemma slope_inv (f : R -> R) (x a : R) : f x <> 0 -> is_derive f x a -> is_derive (fun t => / f t) x (- a / f x ^ 2).
Proof. intros N Hf. now apply is_derive_inv. Qed.

Lemma slope_div (f g : R -> R) (x a b : R) : g x <> 0 -> is_derive f x a -> is_derive g x b ->
  is_derive (fun t => f t / g t) x ((a - f x / g x * b) / g x).
Proof.
  intros N Hf Hg. eapply slope_eq.
  - apply (slope_mult f (fun t => / g t) x a (- b / g x ^ 2) Hf). now apply slope_inv.
  - field. exact N.
Qed.

Lemma slope_exp (f : R -> R) (x a : R) : is_derive f x a -> is_derive (fun t => exp (f t)) x (exp (f x) * a).
Proof. intros Hf. apply (slope_after exp f); [apply is_derive_exp | exact Hf]. Qed.

Lemma slope_ln (f : R -> R) (x a : R) : 0 < f x -> is_derive f x a -> is_derive (fun t => ln (f t)) x (a / f x).
Proof.
  intros P Hf. eapply slope_eq; [apply (slope_after ln f); [now apply is_derive_ln | exact Hf]|].
  unfold Rdiv. ring.
Qed.

Lemma slope_sqrt (f : R -> R) (x a : R) :
  0 < f x -> is_derive f x a -> is_derive (fun t => sqrt (f t)) x (a / (2 * sqrt (f x))).
Proof. intros P Hf. now apply is_derive_sqrt. Qed.

Lemma slope_sum n (F : R -> nat -> R) x (F' : nat -> R) :
  (forall i, (i < n)%nat -> is_derive (fun t => F t i) x (F' i)) ->
  is_derive (fun t => sum n (F t)) x (sum n F').
Proof.
  induction n as [|n IH]; intros H; simpl; [apply slope_const|].
  apply slope_plus; [apply IH; auto with arith | apply H; auto with arith].
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

Lemma put1_moves n v i : moves1 n (put1 v i) (v i) v (delta i).
Proof.
  intros a _. unfold put1, delta. rewrite Nat.eqb_sym. destruct (Nat.eqb_spec i a) as [->|E].
  - split; [reflexivity|]. apply slope_id.
  - split; [reflexivity|]. apply slope_const.
Qed.

Lemma put2_moves m n A i j :
  moves2 m n (put2 A i j) (A i j) A (fun a b => delta i a * delta j b).
Proof.
  intros a b _ _. unfold put2, delta. rewrite (Nat.eqb_sym i), (Nat.eqb_sym j).
  destruct (Nat.eqb_spec a i) as [->|E]; [destruct (Nat.eqb_spec b j) as [->|F]|].
  - split; [reflexivity|]. rewrite Rmult_1_l. apply slope_id.
  - split; [reflexivity|]. rewrite Rmult_0_r. apply slope_const.
  - split; [reflexivity|]. rewrite Rmult_0_l. apply slope_const.
Qed.

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

Lemma paired2_plus m n G H A' :
  paired2 m n G A' + paired2 m n H A' = paired2 m n (fun i j => G i j + H i j) A'.
Proof.
  unfold paired2. rewrite <- sum_plus. apply sum_ext. intros i _. rewrite <- sum_plus.
  apply sum_ext. intros j _. ring.
Qed.

Lemma paired2_still m n G : paired2 m n G (fun _ _ => 0) = 0.
Proof.
  unfold paired2. rewrite (sum_ext _ _ (fun _ => 0)); [apply sum_0|].
  intros i _. rewrite (sum_ext _ _ (fun _ => 0)); [apply sum_0|]. intros j _. ring.
Qed.

(** What does not move. *)
Lemma still m n x A : moves2 m n (fun _ => A) x A (fun _ _ => 0).
Proof. intros i j _ _. split; [reflexivity | apply slope_const]. Qed.

Section Steps.
Variables (m n : nat) (p q : R -> nat -> nat -> R) (x : R) (A B A' B' : nat -> nat -> R).
Hypothesis HA : moves2 m n p x A A'.

Lemma map_back (f f' : R -> R) :
  (forall i j, (i < m)%nat -> (j < n)%nat -> is_derive f (A i j) (f' (A i j))) ->
  exists C', moves2 m n (fun t i j => f (p t i j)) x (fun i j => f (A i j)) C' /\
  forall G, paired2 m n G C' = paired2 m n (fun i j => G i j * f' (A i j)) A'.
Proof.
  intros Hf. exists (fun i j => f' (A i j) * A' i j). split.
  - intros i j Hi Hj. destruct (HA i j Hi Hj) as [E D]. split; [now rewrite E|].
    apply (slope_after f (fun t => p t i j)); [rewrite E; auto | exact D].
  - intros G. apply paired2_ext. intros. ring.
Qed.

Lemma transpose_back :
  exists C', moves2 n m (fun t i j => p t j i) x (fun i j => A j i) C' /\
  forall G, paired2 n m G C' = paired2 m n (fun i j => G j i) A'.
Proof.
  exists (fun i j => A' j i). split.
  - intros i j Hi Hj. now apply HA.
  - intros G. unfold paired2. apply sum_swap.
Qed.

(** Rows and columns by their places, which may be taken several times. *)
Lemma pick_back k l (r c : nat -> nat) :
  (forall i, (i < k)%nat -> (r i < m)%nat) -> (forall j, (j < l)%nat -> (c j < n)%nat) ->
  exists C', moves2 k l (fun t i j => p t (r i) (c j)) x (fun i j => A (r i) (c j)) C' /\
  forall G, paired2 k l G C' = paired2 m n
    (fun a b => sum k (fun i => sum l (fun j => delta (r i) a * delta (c j) b * G i j))) A'.
Proof.
  intros Hr Hc. exists (fun i j => A' (r i) (c j)). split.
  - intros i j Hi Hj. apply HA; auto.
  - intros G. unfold paired2.
    rewrite (sum_ext m _ (fun a => sum k (fun i => delta (r i) a *
      sum n (fun b => sum l (fun j => delta (c j) b * (G i j * A' a b)))))).
    + rewrite (sum_swap m k). apply sum_ext. intros i Hi.
      rewrite (sum_delta m (r i) (fun a =>
        sum n (fun b => sum l (fun j => delta (c j) b * (G i j * A' a b))))) by auto.
      rewrite (sum_swap n l). apply sum_ext. intros j Hj.
      now rewrite (sum_delta n (c j) (fun b => G i j * A' (r i) b)) by auto.
    + intros a _. rewrite (sum_ext n _ (fun b => sum k (fun i => sum l (fun j =>
        delta (r i) a * (delta (c j) b * (G i j * A' a b)))))).
      * rewrite (sum_swap n k). apply sum_ext. intros i _. rewrite <- sum_scal_l.
        apply sum_ext. intros b _. now rewrite sum_scal_l.
      * intros b _. rewrite <- sum_scal_r. apply sum_ext. intros i _. rewrite <- sum_scal_r.
        apply sum_ext. intros j _. ring.
Qed.

Lemma rowsum_back :
  exists C', moves2 m 1 (fun t i _ => sum n (fun k => p t i k)) x
    (fun i _ => sum n (fun k => A i k)) C' /\
  forall G, paired2 m 1 G C' = paired2 m n (fun i j => G i 0%nat) A'.
Proof.
  exists (fun i _ => sum n (fun k => A' i k)). split.
  - intros i j Hi _. split.
    + apply sum_ext. intros k Hk. now apply HA.
    + apply slope_sum. intros k Hk. now apply HA.
  - intros G. apply sum_ext. intros i _. simpl. rewrite sum_scal_l. apply Rplus_0_l.
Qed.

Lemma colsum_back :
  exists C', moves2 1 n (fun t _ j => sum m (fun k => p t k j)) x
    (fun _ j => sum m (fun k => A k j)) C' /\
  forall G, paired2 1 n G C' = paired2 m n (fun i j => G 0%nat j) A'.
Proof.
  exists (fun _ j => sum m (fun k => A' k j)). split.
  - intros i j _ Hj. split.
    + apply sum_ext. intros k Hk. now apply HA.
    + apply slope_sum. intros k Hk. now apply HA.
  - intros G. unfold paired2. simpl. rewrite Rplus_0_l, sum_swap. apply sum_ext. intros j _.
    symmetry. apply sum_scal_l.
Qed.

Lemma total_back :
  exists C', moves2 1 1 (fun t _ _ => sum m (fun i => sum n (fun j => p t i j))) x
    (fun _ _ => sum m (fun i => sum n (fun j => A i j))) C' /\
  forall G, paired2 1 1 G C' = paired2 m n (fun i j => G 0%nat 0%nat) A'.
Proof.
  exists (fun _ _ => sum m (fun i => sum n (fun j => A' i j))). split.
  - intros i j _ _. split.
    + apply sum_ext. intros a Ha. apply sum_ext. intros b Hb. now apply HA.
    + apply slope_sum. intros a Ha. apply slope_sum. intros b Hb. now apply HA.
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
  - intros i j Hi Hj.
    assert (E : forall k, (k < n)%nat -> p x i k = A i k) by (intros; now apply HA).
    assert (EZ : Z (p x) i = Z A i).
    { apply sum_ext. intros k Hk. now rewrite E. }
    pose proof (normaliser_pos A i Hi) as P. unfold W. rewrite EZ, (E j Hj).
    split; [reflexivity|]. destruct (keep i j) eqn:Kj.
    + eapply slope_eq.
      * apply (slope_div (fun t => exp (p t i j)) (fun t => Z (p t) i) x (exp (p x i j) * A' i j)
          (sum n (fun k => if keep i k then exp (A i k) * A' i k else 0)));
          [rewrite EZ; lra | apply (slope_exp (fun t => p t i j)); now apply HA |].
        apply (slope_sum n (fun t k => if keep i k then exp (p t i k) else 0) x
          (fun k => if keep i k then exp (A i k) * A' i k else 0)).
        intros k Hk. destruct (keep i k); [|apply slope_const].
        rewrite <- (E k Hk).
        apply (slope_exp (fun t => p t i k)). now apply HA.
      * rewrite EZ, (E j Hj).
        rewrite (sum_ext n (fun l => (if keep i l then exp (A i l) / Z A i else 0) * A' i l)
          (fun l => / Z A i * (if keep i l then exp (A i l) * A' i l else 0))).
        -- rewrite sum_scal_l. field. lra.
        -- intros l _. destruct (keep i l); unfold Rdiv; ring.
    + rewrite Rmult_0_l. apply slope_const.
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
  - intros i j Hi Hj. destruct (HA i j Hi Hj) as [-> D], (HB i j Hi Hj) as [-> E].
    split; [reflexivity | now apply slope_plus].
  - intros G. unfold paired2. rewrite <- sum_plus. apply sum_ext. intros i _.
    rewrite <- sum_plus. apply sum_ext. intros j _. ring.
Qed.

Lemma minus_back :
  exists C', moves2 m n (fun t i j => p t i j - q t i j) x (fun i j => A i j - B i j) C' /\
  forall G, paired2 m n G C' = paired2 m n G A' + paired2 m n (fun i j => - G i j) B'.
Proof.
  exists (fun i j => A' i j - B' i j). split.
  - intros i j Hi Hj. destruct (HA i j Hi Hj) as [-> D], (HB i j Hi Hj) as [-> E].
    split; [reflexivity | now apply slope_minus].
  - intros G. unfold paired2. rewrite <- sum_plus. apply sum_ext. intros i _.
    rewrite <- sum_plus. apply sum_ext. intros j _. ring.
Qed.

Lemma mult_back :
  exists C', moves2 m n (fun t i j => p t i j * q t i j) x (fun i j => A i j * B i j) C' /\
  forall G, paired2 m n G C' =
    paired2 m n (fun i j => G i j * B i j) A' + paired2 m n (fun i j => G i j * A i j) B'.
Proof.
  exists (fun i j => A' i j * B i j + A i j * B' i j). split.
  - intros i j Hi Hj. destruct (HA i j Hi Hj) as [E D], (HB i j Hi Hj) as [F D'].
    rewrite E, F. split; [reflexivity|]. rewrite <- E, <- F. now apply slope_mult.
  - intros G. unfold paired2. rewrite <- sum_plus. apply sum_ext. intros i _.
    rewrite <- sum_plus. apply sum_ext. intros j _. ring.
Qed.

Lemma div_back : (forall i j, (i < m)%nat -> (j < n)%nat -> B i j <> 0) ->
  exists C', moves2 m n (fun t i j => p t i j / q t i j) x (fun i j => A i j / B i j) C' /\
  forall G, paired2 m n G C' = paired2 m n (fun i j => G i j / B i j) A' +
    paired2 m n (fun i j => - (G i j * (A i j / B i j) / B i j)) B'.
Proof.
  intros N. exists (fun i j => (A' i j - A i j / B i j * B' i j) / B i j). split.
  - intros i j Hi Hj. destruct (HA i j Hi Hj) as [E D], (HB i j Hi Hj) as [F D'].
    rewrite E, F. split; [reflexivity|]. rewrite <- E, <- F.
    apply slope_div; [rewrite F; auto | exact D | exact D'].
  - intros G. unfold paired2. rewrite <- sum_plus. apply sum_ext. intros i Hi.
    rewrite <- sum_plus. apply sum_ext. intros j Hj. field. auto.
Qed.
End Pairs.

Lemma matmul_back d : moves2 n d q x B B' ->
  exists C', moves2 m d (fun t i j => sum n (fun k => p t i k * q t k j)) x
    (fun i j => sum n (fun k => A i k * B k j)) C' /\
  forall G, paired2 m d G C' = paired2 m n (fun i k => sum d (fun j => G i j * B k j)) A' +
    paired2 n d (fun k j => sum m (fun i => A i k * G i j)) B'.
Proof.
  intros HB. exists (fun i j => sum n (fun k => A' i k * B k j + A i k * B' k j)). split.
  - intros i j Hi Hj. split.
    + apply sum_ext. intros k Hk. destruct (HA i k Hi Hk) as [-> _], (HB k j Hk Hj) as [-> _].
      reflexivity.
    + apply slope_sum. intros k Hk. destruct (HA i k Hi Hk) as [E D], (HB k j Hk Hj) as [F D'].
      rewrite <- E, <- F. now apply slope_mult.
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
Lemma upstream_back m n p x Y Y' U : moves2 m n p x Y Y' ->
  is_derive (fun t => sum m (fun i => sum n (fun j => U i j * p t i j))) x (paired2 m n U Y').
Proof.
  intros H. apply slope_sum. intros i Hi. apply slope_sum. intros j Hj.
  destruct (H i j Hi Hj) as [_ D]. eapply slope_eq.
  - apply (slope_mult (fun _ => U i j) (fun t => p t i j)); [apply slope_const | exact D].
  - cbv beta. ring.
Qed.

Arguments still m n {x}.
Arguments map_back {m n p x A A'}.
Arguments transpose_back {m n p x A A'}.
Arguments pick_back {m n p x A A'}.
Arguments rowsum_back {m n p x A A'}.
Arguments colsum_back {m n p x A A'}.
Arguments total_back {m n p x A A'}.
Arguments softmax_back {m n p x A A'}.
Arguments plus_back {m n p q x A B A' B'}.
Arguments minus_back {m n p q x A B A' B'}.
Arguments mult_back {m n p q x A B A' B'}.
Arguments div_back {m n p q x A B A' B'}.
Arguments matmul_back {m n p q x A B A' B'} _ {d}.
Arguments upstream_back {m n p x Y Y'} U.
