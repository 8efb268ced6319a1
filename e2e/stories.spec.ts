// A person reads a story, says which of two ends is better ten times, and what was clicked comes
// more often.
import type { Page } from '@playwright/test'
import { readStory } from '../src/tasks/stories/read.ts'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'
import { unfoldWriting } from './writing.ts'

const CLICKS = 10
// Pinned kernels: ten pairs are so few that rounding decides where the policy goes, and a run that
// chooses its kernels by time rounds as it comes.
const LINK = `v=1&p=story-dpo-clicks&validation.prompts=32&probe.freq=0${QUICK}`
/** What the storyteller writes at once to the text that stands there. */
async function written(page: Page): Promise<string> {
  const send = page.getByTestId('chat-send')
  await send.scrollIntoViewIfNeeded()
  const place = await send.boundingBox()
  await send.click()
  await expect(page.getByTestId('chat-stop')).toBeVisible()
  await expect(page.getByTestId('chat-stop')).toBeHidden({ timeout: 120_000 })
  // A second press finds it where the first did.
  expect(await send.boundingBox()).toEqual(place)
  return page.getByTestId('chat-answer').innerText()
}

const HAPPY_ENDS = 'val-aux/story/happy_end/mean@1'

/** Which of the two shown ends is happy; undefined where both are or neither. */
async function happier(page: Page): Promise<'a' | 'b' | undefined> {
  const answers = page.getByTestId('preferences').locator('.answer .response')
  const [a, b] = (await answers.allInnerTexts()).map((text) => readStory(text).mood === 'happy')
  return a === b ? undefined : a ? 'a' : 'b'
}

test(
  'a story is read, ten pairs are clicked, and what was clicked comes more often',
  LONG_ONLY,
  async ({ lab, page }) => {
    test.setTimeout(1_100_000)
    await lab.open('v=1&p=tiny')
    await lab.get('preset').selectOption('story-happy-end')
    await expect(lab.get('model-writes')).toContainText(/small fox named Max.*Max went home/s)

    // A story of the model as it is, to the prompt that stands there.
    await lab.get('write-first').click()
    await expect(lab.get('chat-text')).toHaveValue(/^Once there was a small fox/)
    await lab.get('chat-send').click()
    await expect(lab.get('chat-stop')).toBeHidden({ timeout: 60_000 })
    await expect(page.getByRole('dialog')).toContainText(/Max .*\./)
    await page.keyboard.press('Escape')
    // What lay over the page takes its entry of the history back.
    await page.waitForFunction(() => history.state?.over !== true)

    await lab.open(LINK)
    await lab.get('train').click()
    await lab.waitForStatus('waiting', 600_000)
    for (let given = 0; given < CLICKS; ) {
      await expect(lab.get('prefer-progress')).toContainText(`${given} of ${CLICKS}`)
      const choice = await happier(page)
      await lab.get(choice === undefined ? 'prefer-skip' : `prefer-${choice}`).click()
      if (choice !== undefined) given++
    }
    await lab.waitForStatus('finished', 900_000)

    const shares = (await lab.steps()).flatMap(({ metrics }) => metrics[HAPPY_ENDS] ?? [])
    expect(shares.length).toBeGreaterThan(1)
    expect(shares.at(-1)).toBeGreaterThan(shares[0])
    // The same prompts before and after, to be read side by side.
    await expect(lab.get('end-card')).toContainText('what changed marked')

    // The model of the run goes on writing: greedily, what it answered.
    const row = lab.get('end-answers').locator('tbody tr').first()
    // Only its last passage stands there until it is asked for.
    await row.getByRole('button', { name: 'the whole story' }).click()
    const [prompt, after] = [
      row.locator('.end-told'),
      row.locator('td').last().locator('.response'),
    ]
    await lab.get('end-card').getByTestId('write-with').click()
    await expect(lab.get('chat-text')).toHaveValue(/^\S+( \S+){8}/)
    await lab.get('chat-text').fill((await prompt.textContent()) ?? '')
    await unfoldWriting(lab)
    await lab.get('chat-temperature').fill('0')
    expect(await written(page)).toContain((await after.innerText()).trim())
    await expect(lab.get('steer')).toBeVisible()
  },
)

test(
  'a lesson steers the storyteller: two texts stand there, and one vector changes the story',
  LONG_ONLY,
  async ({ lab, page }) => {
    test.setTimeout(480_000)
    await lab.open('v=1&p=tiny#lesson=steering')
    await lab.get('lesson-steer').click()
    await expect(lab.get('chat-text')).toHaveValue(/^Once there was a small fox/)
    // Each press samples with the next seed: what is compared is what the model finds likeliest.
    await unfoldWriting(lab)
    await lab.get('chat-temperature').fill('0')
    const alone = await written(page)
    expect(alone).toMatch(/Max/)
    await lab.get('steer').locator('summary').click()
    await expect(lab.get('steer-toward')).toHaveValue(/happy/)
    await lab.get('steer-make').click()
    await expect(lab.get('steer-layer')).toHaveValue('4')
    await lab.get('steer-strength').fill('2')
    expect(await written(page)).not.toBe(alone)
    await lab.get('steer-strength').fill('0')
    expect(await written(page)).toBe(alone)
  },
)
