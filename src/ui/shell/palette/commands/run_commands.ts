// Lists the commands on the run.

import { profileStep, restart, stepOnce, traceStep } from '../../../../page/client/controls.ts'
import { reset } from '../../../../page/client/starting.ts'
import { nextPhase } from '../../../../page/client/steering.ts'
import { isReplaying } from '../../../../page/state/replay.ts'
import type { LabState } from '../../../../page/state/store.ts'
import {
  canNextPhase,
  canProfile,
  canReset,
  canRestart,
  canStep,
  canToggle,
  replayedLabel,
  toggleLabel,
  toggleTraining,
} from '../../../open/actions.ts'
import { selectIsBusy, selectIsEdited } from '../../../shown/run.ts'
import { openTab } from '../../../shown/store.ts'
import type { Command } from './command.ts'

/** As the button has it. */
function nowLabel(state: LabState): string {
  const label = toggleLabel(state)
  return isReplaying() ? replayedLabel(label) : label
}

export const RUN_COMMANDS: readonly Command[] = [
  {
    id: 'train',
    group: 'Run',
    name: (state) => (state ? nowLabel(state) : 'Train, pause, continue'),
    keys: ['Space'],
    also: 'start run play stop resume',
    can: canToggle,
    run: toggleTraining,
  },
  {
    id: 'step',
    group: 'Run',
    name: () => 'One step, then pause',
    keys: ['S'],
    also: 'single',
    can: canStep,
    run: stepOnce,
  },
  {
    id: 'next-phase',
    group: 'Run',
    name: () => 'End this phase, begin the next',
    keys: ['N'],
    also: 'next phase skip',
    can: canNextPhase,
    run: nextPhase,
  },
  {
    id: 'reset',
    group: 'Run',
    name: () => 'Reset the run',
    keys: ['R'],
    also: 'stop drop begin again',
    can: canReset,
    run: reset,
  },
  {
    id: 'restart',
    group: 'Run',
    name: () => 'Restart with the changed settings',
    also: 'apply',
    can: (state) => selectIsBusy(state) && selectIsEdited(state) && canRestart(state),
    run: restart,
  },
  {
    id: 'profile',
    group: 'Run',
    name: () => 'Measure a step on the GPU',
    also: 'profile profiler time speed',
    can: (state) => canProfile(state) && !state.isProfiling,
    run: () => {
      openTab('gpu')
      profileStep()
    },
  },
  {
    id: 'trace',
    group: 'Run',
    name: () => 'Show a step token by token',
    also: 'trace slow motion stages',
    can: ({ status, isTracing }) => (status === 'running' || status === 'paused') && !isTracing,
    run: () => {
      openTab('tokens')
      traceStep()
    },
  },
]
