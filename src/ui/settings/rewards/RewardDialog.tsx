// The dialog that composes the reward. What is inside is loaded when it is first opened.
import { useStore } from 'zustand'
import { programStore } from '../../../lab/page/contents/programs.ts'
import type { LabState } from '../../../lab/page/store.ts'
import { lazyPart } from '../../base/page/lazy_part.tsx'
import { useLab } from '../../base/run.ts'
import { showDialog } from '../../palette/dialogs.ts'
import { Modal } from '../../palette/Modal.tsx'

const RewardForm = lazyPart(async () => (await import('./RewardForm.tsx')).RewardForm, {
  name: 'The reward',
  fallback: <p className="soft">Opening …</p>,
})

export function RewardDialog() {
  return (
    <Modal name="reward" label="Reward">
      <RewardForm />
    </Modal>
  )
}

const selectParts = ({ experiment }: LabState) => experiment.reward.parts
const selectTools = ({ experiment }: LabState) => experiment.tools
const selectRemarks = ({ reward_remarks }: LabState) => reward_remarks
type Worded = { readonly id: string; readonly name?: unknown; readonly function?: unknown }
const wordsOf = (parts: readonly Worded[]) =>
  parts
    .map(({ id, name, function: chosen }) =>
      id === 'program' ? `${name}${chosen ? `:${chosen}` : ''}` : id,
    )
    .join(' + ')

/** What the programs of the run printed, how many of their calls failed, and the first reason. */
function ProgramWords() {
  const programs = useStore(programStore)
  const remarks = useLab(selectRemarks)
  return (
    <div data-testid="program-words">
      {remarks.map((remark) => (
        <p key={remark} className="problem">
          {remark}
        </p>
      ))}
      {programs.map(({ name, function: own, calls, errors, timeouts, first_error, printed }) => (
        <div key={`${name} ${own}`}>
          {first_error === undefined ? null : (
            <p className="problem">
              {name}: {errors + timeouts} of {calls} calls failed. The first: {first_error}
            </p>
          )}
          {printed === undefined ? null : (
            <details>
              <summary>What {name} printed</summary>
              <pre>{printed}</pre>
            </details>
          )}
        </div>
      ))}
    </div>
  )
}

/** Under the task: what responses are worth and which tools there are, and the ways to change it. */
export function RewardLine() {
  const reward = wordsOf(useLab(selectParts)) || 'the task’s own score'
  const tools = wordsOf(useLab(selectTools)) || 'none'
  return (
    <div className="task-samples task-ways">
      <p>Reward: {reward}</p>
      <button type="button" data-testid="open-reward" onClick={() => showDialog('reward')}>
        Compose…
      </button>
      <p>Tools: {tools}</p>
      <button type="button" data-testid="open-tools" onClick={() => showDialog('tools')}>
        Choose…
      </button>
      <ProgramWords />
    </div>
  )
}
