// Runs with tools on the page: what a tool wrote is told apart from what the policy wrote, and a
// program of one's own is one.
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK =
  `v=1&p=calculator-products&task.tool_share=1&phases.0.steps=40&phases.0.batch_size=16&phases.1.steps=2${QUICK}` +
  '&model.hidden_size=32&model.intermediate_size=64&model.num_attention_heads=2&model.num_key_value_heads=2' +
  '&validation.test_freq=0&probe.freq=0'

test(
  'samples and tokens mark what a tool wrote, and its calls are a chart',
  LONG_ONLY,
  async ({ lab }) => {
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
  },
)

const SCHEMA = JSON.stringify({
  type: 'function',
  function: {
    name: 'square',
    description: 'The square of a number.',
    parameters: {
      type: 'object',
      properties: { of: { type: 'string', description: 'A whole number' } },
      required: ['of'],
    },
  },
})
const TOOL = `export const tool_schema = ${SCHEMA}
export function execute({ of }) {
  while (of === 'forever');
  if (of === 'much') return 'x'.repeat(1e6)
  if (of === 'nothing') return undefined
  return String(Number(of) ** 2)
}`

test(
  'a dropped program is a tool: tried by hand, kept by its hash, and part of a run',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(`${LINK.replace('phases.0.steps=40', 'phases.0.steps=2')}&reward.timeout_ms=300`)
    await lab.waitForStatus('idle')
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], 'square.js', { type: 'text/javascript' }))
      return data
    }, TOOL)
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
    await expect(lab.get('tool-1')).toContainText('square, from square.js')
    for (const [given, said] of [
      ['12', /^144$/],
      ['forever', /took longer than 300 ms/],
      ['much', /^x+\.\.\.\(truncated\)\.\.\.x+$/],
      ['nothing', /expected a text/],
    ] as const) {
      await lab.get('tool-arguments-1').fill(JSON.stringify({ of: given }))
      await lab.get('tool-call-1').click()
      await expect(lab.get('tool-said-1')).toHaveText(said, { timeout: 60_000 })
    }
    await expect(page).toHaveURL(/tools=calculator,program:sha256-[0-9a-f]{64}:square\.js/)
    await lab.get('tools-close').click()
    await page.reload()
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 120_000)
    const [{ metrics }] = (await lab.steps()).slice(-1)
    expect(metrics).toMatchObject({ 'tool_calls/errors': 0, 'tool_calls/timeouts': 0 })
  },
)
