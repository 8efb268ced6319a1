// Declares a command of the lab and the two errors with which it refuses.
import type { CommandLine } from './declare.ts'

export interface Command {
  /** What it takes: its help and its options. */
  readonly line: CommandLine
  /** Resolves with the exit code. Throws UsageError or LabFailure. */
  readonly run: (args: readonly string[]) => Promise<number>
}

/** The command line cannot be meant this way; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The user's input or this machine prevents the command; the message says all. Exit code 1. */
export class LabFailure extends Error {
  override readonly name = 'LabFailure'
}

const PLAIN = new Set([
  'GpuError',
  'ExperimentError',
  'ModelFileError',
  'CheckpointError',
  'JobError',
  'LabFailure',
  'NoPairsError',
  'RewardError',
  'TokenizerFileError',
])

/** Whether an error's message says all there is to say; any other is our own mistake, and is shown
 * with where it happened. */
export const saysAll = (error: unknown): error is Error =>
  error instanceof Error && PLAIN.has(error.name)

/** Exit code of `adapters` where there is none: not an error of the lab. */
export const NO_ADAPTER = 3

export const NO_ADAPTER_TEXT =
  'WebGPU finds no adapter here. Install a GPU driver with Vulkan, or a software one:\n' +
  'Google Chrome or Chromium (for SwiftShader), or Mesa 24 or newer (Debian, Ubuntu: mesa-vulkan-drivers).\n' +
  'NVIDIA’s Vulkan driver loads libEGL.so.1, which a machine without a display may lack (Debian, Ubuntu: libegl1).'
