// Finds the kept states of a run that is over, which can be looked into.
import { useStore } from 'zustand'
import { replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { isLive } from '../../record/run/record.ts'
import { type Opened, openedStore, useOpenedEntry } from '../open/opened_run.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { selectStatus, useLab } from '../shown/run.ts'
import { useCheckpoints } from './kept_checkpoints.ts'

const selectRecord = ({ record }: LabState) => record
const selectKept = ({ checkpoints }: LabState) => checkpoints
const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened

/** The record of the shown run, where it is over and nobody else is at work on it. */
export function useRecordOver(): string | undefined {
  const opened = useStore(openedStore, selectOpened)
  const entry = useOpenedEntry()
  const status = useLab(selectStatus)
  const record = useLab(selectRecord)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  if (entry) return opened?.isElsewhere || isLive(entry.header.status) ? undefined : entry.id
  const isOver = status === 'finished' || status === 'failed'
  return isOver && record !== '' && !isReplaying ? record : undefined
}

/** Steps after which a state of the run is kept, the newest first. */
export function useKeptSteps(record: string): number[] {
  const living = useLab(selectRecord)
  const ofLiving = useLab(selectKept)
  const stored = useCheckpoints(record, ofLiving)
  const entries = stored?.length || living !== record ? (stored ?? []) : ofLiving
  return entries.map(({ step }) => step).reverse()
}
