// The dialog that composes the reward. What is inside is loaded when it is first opened.
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
const wordsOf = (parts: readonly { readonly id: string; readonly name?: unknown }[]) =>
  parts.map(({ id, name }) => (id === 'program' ? name : id)).join(' + ')

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
    </div>
  )
}
