(** Attention over the reals: finite sums, the steps of a walkthrough, and how gradients pass
    back through them. Whatever the sizes; nothing is assumed but the axioms of the reals. *)

From Coq Require Import Reals Lra Lia Arith List.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

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
