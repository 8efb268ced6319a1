// What a person was promised: press Train, and reward, accuracy and the layers' entropies move.
import { expect, test } from './lab_page.ts'

test('Train on the tiny preset', async ({ lab, page }) => {
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  const t0 = Date.now()
  await lab.get('train').click()
  let last = -1
  while (Date.now() - t0 < 60_000) {
    await page.waitForTimeout(1000)
    const n = (await lab.steps()).length
    process.stderr.write(`${((Date.now() - t0) / 1000).toFixed(0)}s:${n} `)
    last = n
  }
  const s = await lab.steps()
  process.stderr.write(JSON.stringify(s.at(-1)?.metrics) + '\n')
  process.stderr.write(JSON.stringify((await lab.events()).filter(e => e.type === 'memory').at(-1)) + '\n')
})
