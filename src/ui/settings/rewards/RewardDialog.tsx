// Draws the dialog that composes the reward. What is inside is loaded when it is first opened.
import { useStore } from 'zustand'
import { programStore } from '../../../page/contents/programs.ts'
import type { LabState } from '../../../page/state/store.ts'
import { showDialog } from '../../open/dialogs.ts'
import { later } from '../../part/later.tsx'
import { lazyPart, Opening } from '../../part/lazy_part.tsx'
import { Modal } from '../../part/Modal.tsx'
import { useLab } from '../../shown/run.ts'
import { rewardWords, toolsWords } from './part_words.ts'

const RewardForm = lazyPart(async () => (await import('./RewardForm.tsx')).RewardForm, {
  name: 'The reward',
  fallback: <Opening />,
})

const hasRemarks = ({ rewardRemarks }: LabState) => rewardRemarks.length > 0
const ProgramWords = later(
  'What the programs said',
  async () => (await import('./ProgramWords.tsx')).ProgramWords,
  () => {
    const hasPrograms = useStore(programStore, (programs) => programs.length > 0)
    return useLab(hasRemarks) || hasPrograms
  },
)

export function RewardDialog() {
  return (
    <Modal name="reward" label="Reward">
      <RewardForm />
    </Modal>
  )
}

const selectParts = ({ experiment }: LabState) => experiment.reward.parts
const selectTools = ({ experiment }: LabState) => experiment.tools

/** Under the task: what responses are worth and which tools there are, and the ways to change
 * it. */
export function RewardLine() {
  const reward = rewardWords(useLab(selectParts))
  const tools = toolsWords(useLab(selectTools))
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
