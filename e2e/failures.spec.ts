// Tests what can go wrong after Train: the page says what happened and stays usable.
import { expect, LONG_ONLY } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Legal in every field, and beyond what the adapter binds at once: rows that call tools keep their
 * keys and values together. */
const TOO_LARGE =
  'v=1&p=tiny&task.length=8&tools=calculator&rollout.max_turns=2&model.num_hidden_layers=8&rollout.train_batch_size=1024' +
  '&rollout.n=64&actor.ppo_mini_batch_size=512&rollout.max_response_length=64'

test('a run beyond the adapter is refused with the tensor and both sizes, and a smaller one trains', async ({
  lab,
}) => {
  await lab.open(TOO_LARGE)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await expect(lab.get('error')).toHaveAttribute('data-code', 'too_large')
  await expect(lab.get('error')).toContainText(
    /needs \d+\.\d MB; this adapter binds at most \d+\.\d MB/,
  )
  await expect(lab.get('step-count')).toHaveText('–')
  // What went wrong says nothing of another experiment.
  await lab.get('preset').selectOption('tiny')
  await expect(lab.get('error')).toHaveCount(0)
  await lab.waitForStatus('idle')
  // Its own kernels take twice as long to compile.
  await lab.get('settings-search').fill('kernels')
  await lab.get('field-kernels').fill('*:vector_4x4')
  await lab.get('step').click()
  await expect(lab.get('step-count')).toHaveText('1', { timeout: 120_000 })
})

test(
  'half the batch is one press away, and undo brings the settings back',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.open(TOO_LARGE)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await expect(lab.get('error')).toHaveAttribute('data-code', 'too_large')
    await expect(lab.get('planned-bytes')).toContainText(/takes .*\d\.\d GiB of GPU memory/)
    await lab.get('train-smaller').click()
    const link = () => new URL(lab.page.url()).searchParams
    await expect.poll(() => link().get('rollout.train_batch_size')).toBe('512')
    expect(link().get('actor.ppo_mini_batch_size')).toBe('256')
    // Each of its buffers has room now; all of them together are asked about before any is
    // allocated.
    await expect(lab.get('error')).toHaveAttribute('data-code', 'memory')
    await expect(lab.get('error')).toContainText('would take 4.87 GiB of GPU memory')
    await expect(lab.get('allow-memory')).toHaveText('Take 4.9 GiB and train')
    expect((await lab.events()).some(({ type }) => type === 'memory')).toBe(false)
    await lab.get('reset').click()
    await lab.get('undo').click()
    await expect.poll(() => link().get('rollout.train_batch_size')).toBe('1024')
  },
)
