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

/** Under the task: what responses are worth, and the way to change it. */
export function RewardLine() {
  const parts = useLab(selectParts)
  const words = parts.map(({ id, name }) => (id === 'program' ? name : id)).join(' + ')
  return (
    <p className="task-samples">
      Reward: {words || 'the task’s own score'}{' '}
      <button type="button" data-testid="open-reward" onClick={() => showDialog('reward')}>
        Compose…
      </button>
    </p>
  )
}
