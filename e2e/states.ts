// Brings the page into each state of a run, for tests that look at it there.
import { expect, type LabPage, QUICK } from './lab_page.ts'

const SMALL = `v=1&p=tiny&phases=rl&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8${QUICK}`
/** Legal in every field, and beyond what the adapter binds at once: rows that call tools keep their
 * keys and values together. */
const TOO_LARGE =
  'v=1&p=tiny&task.length=8&tools=calculator&rollout.max_turns=2&model.num_hidden_layers=8&rollout.train_batch_size=1024' +
  '&rollout.n=64&actor.ppo_mini_batch_size=512&rollout.max_response_length=64'
const TAUGHT =
  `v=1&p=rlhf-clicks&phases.0.steps=4&phases.1.steps=6&phases.2.steps=3${QUICK}` +
  '&phases.1.pairs.min_pairs=12&validation.test_freq=0'

/** From the first message that holds this text on the page hears nothing more of its worker; with
 * '' nothing at all. */
const muteAfter = (lab: LabPage, text: string) =>
  lab.page.addInitScript((until) => {
    const listen = EventTarget.prototype.addEventListener
    Worker.prototype.addEventListener = function (
      this: Worker,
      type: string,
      hear: EventListenerOrEventListenerObject,
    ) {
      // Each by itself: the test's own ear hears first.
      let isMute = until === ''
      listen.call(this, type, (event) => {
        if (!isMute && typeof hear === 'function') hear(event)
        if (event instanceof MessageEvent && JSON.stringify(event.data).includes(until))
          isMute = true
      })
    }
  }, text)

async function train(lab: LabPage, link: string, status: string): Promise<void> {
  await lab.open(link)
  await lab.waitForStatus('idle')
  await lab.get('train').click()
  await lab.waitForStatus(status, 200_000)
}

/** Brings a fresh page there. */
export const STATES: Readonly<Record<string, (lab: LabPage) => Promise<void>>> = {
  loading: async (lab) => {
    await muteAfter(lab, '')
    await lab.open(SMALL)
    await lab.waitForStatus('loading')
  },
  preparing: async (lab) => {
    await muteAfter(lab, ' parts ready')
    // Products that no other page of this worker compiles.
    await lab.open(SMALL.replace(QUICK, '&kernels=*:vector_8x4'))
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await expect(lab.get('status')).toContainText('parts ready')
  },
  running: (lab) => train(lab, `${SMALL}&phases.0.steps=5000`, 'running'),
  paused: async (lab) => {
    await train(lab, `${SMALL}&phases.0.steps=400`, 'running')
    await lab.waitForStep(4)
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
  },
  waiting: (lab) => train(lab, TAUGHT, 'waiting'),
  finished: (lab) => train(lab, `${SMALL}&phases.0.steps=4`, 'finished'),
  failed: (lab) => train(lab, TOO_LARGE, 'failed'),
  refused: async (lab) => {
    await lab.open(`${SMALL}&actor.ppo_mini_batch_size=7&model.hidden_size=x`)
    await lab.waitForStatus('idle')
  },
}
