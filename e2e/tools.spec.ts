// A run with a calculator on the page: what the tool wrote is told apart from what the policy wrote.
import { expect, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK =
  `v=1&p=calculator-products&task.tool_share=1&phases.0.steps=60&phases.0.batch_size=32&phases.1.steps=2${QUICK}` +
  '&model.hidden_size=32&model.intermediate_size=64&model.num_attention_heads=2&model.num_key_value_heads=2' +
  '&validation.test_freq=0&probe.freq=0'

test('samples and tokens mark what a tool wrote, and its calls are a chart', async ({ lab }) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStatus('finished')
  const said = lab.get('tool-text').first()
  await expect(said).toHaveAttribute('title', 'the tool wrote this')
  await expect(said).toContainText(/\d*>/)
  await expect(lab.get('samples')).toContainText('[')
  await lab.get('tab-tokens').click()
  await expect(lab.get('tool-legend')).toContainText('the tool wrote this')
})
