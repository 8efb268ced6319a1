// Describes what is wrong with a file that should hold a checkpoint.

/** damaged: the file is not what was written, or was never one that a run can continue from. newer:
 * of a later version of the lab. foreign: some other safetensors file. vocabulary: of a model whose
 * tokens mean other texts; the message says what to do. */
export type CheckpointProblem = 'damaged' | 'newer' | 'foreign' | 'vocabulary'

const REMEDIES: Readonly<Record<CheckpointProblem, string>> = {
  damaged: 'take an older checkpoint',
  newer: 'it was written by a newer version, so update the lab',
  foreign: 'open a file that the lab wrote as a checkpoint',
  vocabulary: 'a checkpoint continues with the vocabulary that it was made with',
}

/** A run cannot continue from a file. The message names the file and the place, what was expected
 * and found, and what to do. */
export class CheckpointError extends Error {
  override name = 'CheckpointError'
  readonly file: string
  readonly problem: CheckpointProblem

  constructor(file: string, message: string, problem: CheckpointProblem = 'damaged') {
    super(`${file}: ${message}; ${REMEDIES[problem]}`)
    this.file = file
    this.problem = problem
  }
}
