// What a person was promised: press Train, and reward, accuracy and the layers' entropies move.
import { expect, test } from './lab_page.ts'

test('Train on the tiny preset', async ({ lab }) => {
  await lab.open('v=1&p=tiny')
  await lab.get('train').click()
  await lab.waitForStatus('finished', 110_000)
  const steps = await lab.steps()
  console.log(steps.map(s => [s.step, s.metrics['critic/score/mean'], s.metrics['val-aux/sort_digits/acc/greedy']].join(':')).join(' '))
})
