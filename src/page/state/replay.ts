// Holds whether the page plays a recording, which one, and how fast. The player is loaded with the
// recording (replay_port.ts).
import { createStore } from 'zustand/vanilla'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { Recording } from '../../record/files/recorded.ts'

/** Times the pace of the recorded machine. */
export const SPEEDS = [1, 2, 4, 8, 16, 32] as const
export type Speed = (typeof SPEEDS)[number]

/** Why a recording does not obey. */
export const IS_RECORDING = 'this is a recording; nothing is trained'

export interface ReplayState {
  /** What is played in place of the worker's runs; undefined while the worker is at work. */
  readonly recording: Recording | undefined
  /** What the worker trained on before; undefined where this machine has no GPU. */
  readonly own?: AdapterFacts | undefined
  readonly speed: Speed
}

export const replayStore = createStore<ReplayState>(() => ({ recording: undefined, speed: 1 }))

export const isReplaying = (): boolean => replayStore.getState().recording !== undefined
