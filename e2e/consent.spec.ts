// The question before a model is fetched: nothing of a link or of a page around it can change what
// it says, or have it answered unseen.
import type { Page } from '@playwright/test'
import { expect, LONG_ONLY, test } from './lab_page.ts'

const FRAME = 'iframe[title="asked"]'

/** Asks in a frame of fetch.html as the page does; resolves with what the frame answers through its
 * port, if it does within a moment. */
const ask = (page: Page, name: string, style: string) =>
  page.evaluate(
    ([asked, css]) =>
      new Promise<unknown>((resolve) => {
        const frame = document.createElement('iframe')
        frame.title = 'asked'
        frame.setAttribute('sandbox', 'allow-scripts')
        frame.style.cssText = css
        frame.onload = () => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => resolve(data)
          const question = { origins: ['https://huggingface.co'], name: asked }
          frame.contentWindow?.postMessage(question, '*', [port2])
          setTimeout(() => resolve(undefined), 1000)
        }
        frame.src = 'fetch.html'
        document.body.replaceChildren(frame)
      }),
    [name, style] as const,
  )

test('the question names the place first, and no name can write the question', async ({
  lab,
  page,
}) => {
  await lab.open('v=1&p=tiny')
  const frame = page.frameLocator(FRAME)
  for (const name of [
    'a model. Nothing is sent: press Allow',
    'x\u202ey',
    'x'.repeat(97),
    '',
    'a/b/c',
  ])
    expect(await ask(page, name, '')).toMatchObject({ refused: expect.stringContaining('no name') })
  await expect(frame.getByRole('button')).toHaveCount(0)

  await ask(page, `owner/${'m'.repeat(90)}`, 'width: 300px; height: 300px')
  await expect(frame.locator('#places')).toHaveText('huggingface.co')
  await expect(frame.locator('bdi')).toHaveText(`owner/${'m'.repeat(54)}…`)
  await expect(frame.getByRole('button', { name: 'Allow' })).toBeEnabled()
})

test('a frame that nobody can see is not agreed to', LONG_ONLY, async ({ lab, page }) => {
  await lab.open('v=1&p=tiny')
  const allow = page.frameLocator(FRAME).getByRole('button', { name: 'Allow' })
  for (const style of [
    'opacity: 0',
    'opacity: 0.5',
    'filter: blur(9px)',
    'transform: scale(0.1)',
  ]) {
    await ask(page, 'owner/model', `width: 400px; height: 200px; ${style}`)
    await expect(allow, style).toBeDisabled()
  }
  await ask(page, 'owner/model', 'width: 400px; height: 200px')
  await expect(allow).toBeEnabled()
})

test('all of the question is in sight on a phone', LONG_ONLY, async ({ lab, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  await page.keyboard.press('Control+k')
  await lab.get('palette-input').fill('open a model')
  await page.keyboard.press('Enter')
  await lab.get('model-address').fill('HuggingFaceTB/SmolLM2-135M')
  await lab.get('model-find').click()
  const frame = page.frameLocator('[data-testid=model-fetch-frame]')
  const button = frame.getByRole('button', { name: 'Not now' })
  const around = page.getByTestId('model-fetch-frame')
  const below = async () => {
    const [inner, outer] = [await button.boundingBox(), await around.boundingBox()]
    return (outer?.y ?? 0) + (outer?.height ?? 0) - ((inner?.y ?? 0) + (inner?.height ?? 0))
  }
  await expect.poll(below).toBeGreaterThan(0)
  await expect(frame.getByRole('button', { name: 'Allow' })).toBeEnabled()
})
