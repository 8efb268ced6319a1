// Steering vectors are trained on a frozen model, tried with a slider, and trained on from their
// file.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'
import { answeredAt, greedy } from './writing.ts'

const SHORT = `v=1&p=first-run&phases=rl&phases.0.steps=3&model.steering_vectors.trainable=true&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`

test(
  'a run trains vectors alone; a slider tries them, and another run trains them on',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)

    // Its base writes with the vectors what the run answered.
    await lab.get('end-card').getByTestId('write-with').click()
    await expect(lab.get('model-steered')).toContainText(
      'The steering vectors of its run are added',
    )
    await expect(lab.get('model-train')).toBeHidden()
    const answered = (await answeredAt(lab, 3)).slice(0, 4)
    expect(answered).toHaveLength(4)
    for (const { input, output } of answered) expect(await greedy(lab, input), input).toBe(output)
    await page.keyboard.press('Escape')

    await lab.show('inside')
    await lab.get('steering-from').selectOption('run')
    await lab.get('steering-start').click()
    await expect(lab.get('steering-says')).toContainText('vectors that a run trained in 3 steps', {
      timeout: 200_000,
    })
    await lab.get('steering-trial-layer').selectOption('2')
    await lab.get('steering-trial-strength').press('ArrowRight')
    await expect(lab.get('steering-trial-says')).toContainText('With layer 2 × 1.25: the reward', {
      timeout: 100_000,
    })
    await expect(lab.get('steering-trial-says')).toContainText('Entropy of each layer’s policy')
    await expect(lab.get('steering-trial-answers').locator('tr')).toHaveCount(4)
    await lab.get('steering-train').click()
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
  },
)
