// Writes with the model that is open, and finds what its run answered.
import { expect, type LabPage } from './lab_page.ts'

/** How a model writes lies behind a fold where it has learned a task. */
export async function unfoldWriting(lab: LabPage): Promise<void> {
  await expect(lab.get('chat-text')).toBeVisible()
  const fold = lab.get('chat-how')
  if (await fold.isVisible()) await fold.evaluate((how) => how.setAttribute('open', ''))
}

/** What the open model writes to a text, with no chance in it. */
export async function greedy(lab: LabPage, text: string): Promise<string> {
  await unfoldWriting(lab)
  await lab.get('chat-temperature').fill('0')
  await lab.get('chat-text').fill(text)
  await lab.get('chat-send').click()
  await expect(lab.get('chat-stop')).toBeHidden({ timeout: 60_000 })
  // With the end token, if it came to an end.
  const tokens = await lab.get('chat-parts').getByRole('button').allInnerTexts()
  return tokens.filter((token) => token !== '∎').join('')
}

/** Greedy answers to held-out problems after a step. */
export async function answeredAt(lab: LabPage, step: number) {
  const validations = (await lab.events()).flatMap((event) =>
    event.type === 'generations' && event.step === step ? [event] : [],
  )
  return validations[0]?.generations.filter(({ do_sample }) => do_sample !== true) ?? []
}
