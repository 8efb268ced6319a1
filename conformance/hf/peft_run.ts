// Declares what is asked of an adapter that is trained as PEFT trains it, wherever that happens.
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'

type Numbers = ArrayLike<number>

/** A run that can be asked and trained, from the adapter that PEFT began with. */
export interface PeftRun {
  /** [rows, width, V], with the adapter on or off. */
  logits(batch: RolloutBatch, isOn: boolean): Promise<Numbers>
  supervised(batch: RolloutBatch): Promise<Readonly<Record<string, number>>>
  /** Scores a batch of reinforcement, with the adapter on and off. */
  begin(
    batch: RolloutBatch,
    advantages: Numbers,
  ): Promise<{ readonly old_log_probs: Numbers; readonly ref_log_prob: Numbers }>
  /** One optimizer step on rows [first, first + mini) of that batch. */
  update(first: number): Promise<Readonly<Record<string, number>>>
  /** A and B by PEFT's names. */
  factors(): Promise<Readonly<Record<string, Numbers>>>
}
