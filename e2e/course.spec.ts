// A course of two lessons is made on the page, taken from its link, handed in, and checked on the
// page and on the command line.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import { violations } from './axe.ts'
import { expect, LONG_ONLY } from './lab_page.ts'
import { test } from './warm_page.ts'

/** Answers a question as somebody who guesses: each choice in turn until one is right. */
async function guess(question: Locator): Promise<void> {
  await expect(question).toBeVisible()
  for (const choice of await question.getByRole('radio').all()) {
    if ((await question.getAttribute('data-done')) === 'true') return
    await choice.check()
  }
  await expect(question).toHaveAttribute('data-done', 'true')
}

test(
  'a course is made, taken in its order, handed in and checked',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny#lesson=make-course')
    await lab.waitForStatus('idle')
    const panel = '[data-testid="lessons"]'
    await expect(lab.get('course-missing')).toContainText('title: expected a text, found none')
    await lab.get('course-title').fill('Two lessons')
    await lab.get('course-in-order').check()
    await lab.get('course-lock-settings').check()
    for (const lesson of ['layer-policies', 'to-a-cluster']) {
      await lab.get('course-lesson').selectOption(lesson)
      await lab.get('add-lesson').click()
    }
    await lab.get('add-page').click()
    await lab.get('page-title').fill('Before you go')
    await lab.get('page-text').fill('Read this.\n\n<b>Not bold</b>')
    await lab.get('add-question').click()
    await lab.get('question-asks').fill('Which layer is the embedding?')
    await lab.get('question-choices').fill('the first\nlayer 0')
    await lab.get('question-right').selectOption('1')
    expect(await violations(page, panel)).toEqual([])
    const link = await lab.get('course-link').inputValue()
    const coming = page.waitForEvent('download')
    await lab.get('save-course').click()
    const folder = mkdtempSync(join(tmpdir(), 'course-'))
    const file = join(folder, 'two.course.json')
    await (await coming).saveAs(file)

    // Somebody else opens the link: what comes later is closed, and the settings are locked.
    await page.goto(link)
    await lab.waitForStatus('idle')
    await expect(lab.get('course')).toContainText('Two lessons')
    await expect(lab.get('course-item-1')).toBeDisabled()
    await expect(page.locator('html')).toHaveAttribute('data-lock', 'settings')
    expect(await violations(page, panel)).toEqual([])
    await lab.get('course-item-0').click()
    await expect(page.locator(`${panel} .lesson-sources`)).toBeVisible()
    await guess(lab.get('question-scale'))
    await guess(lab.get('question-normed'))
    await lab.get('start-measured').click()
    await expect(lab.get('try-measured')).toHaveAttribute('data-done', 'true', { timeout: 200_000 })
    await lab.get('reset').click()
    await expect(lab.get('lesson-next')).toContainText('From the tab to a cluster')
    await lab.get('all-lessons').click()
    await expect(lab.get('course-item-1')).toBeEnabled()
    await expect(lab.get('course-item-2')).toBeDisabled()

    // Half of it is handed in, and judged as half.
    await lab.get('hand-in-course').click()
    await lab.get('hand-in-name').fill('Ada')
    expect(await violations(page, panel)).toEqual([])
    const code = await lab.get('hand-in-code').inputValue()
    await lab.get('all-lessons').click()
    await lab.get('open-check-code').click()
    await lab.get('check-text').fill(code)
    await lab.get('check').click()
    const checked = lab.get('checked')
    await expect(checked).toContainText(/Ada: 3 of \d+/)
    await expect(checked).toContainText('Not answered.')
    await expect(checked.locator('a')).toHaveCount(1)
    expect(await violations(page, panel)).toEqual([])
    await lab.get('check-text').fill(code.slice(0, -2))
    await lab.get('check').click()
    await expect(lab.get('check-refused')).toContainText('damaged')

    const at = join(folder, 'code.txt')
    writeFileSync(at, code)
    const { status, stdout, stderr } = spawnSync(
      'node',
      ['scripts/lab.mjs', 'check', at, '--course', file],
      { encoding: 'utf8' },
    )
    expect(stderr).toBe('')
    expect(status).toBe(1)
    expect(stdout).toMatch(/Ada: 3 of \d+ in “Two lessons”/)
    expect(stdout).toContain('Before you go')
    rmSync(folder, { recursive: true })
  },
)

test('progress leaves as a file and comes back; a broken one is refused', async ({ lab, page }) => {
  await lab.open('v=1&p=tiny#lesson=kl')
  await lab.waitForStatus('idle')
  await guess(lab.get('question-k1'))
  await lab.get('all-lessons').click()
  const coming = page.waitForEvent('download')
  await lab.get('save-progress').click()
  const text = readFileSync(await (await coming).path(), 'utf8')
  await page.evaluate(() => localStorage.removeItem('understory.lessons'))
  await page.reload()
  await lab.waitForStatus('idle')
  await expect(lab.get('lesson-kl')).toContainText('7 min')
  const open = async (name: string, content: string) => {
    const choosing = page.waitForEvent('filechooser')
    await lab.get('open-taught').click()
    const buffer = Buffer.from(content)
    await (await choosing).setFiles({ name, mimeType: 'application/json', buffer })
  }
  await open('own.progress.json', text.replace('"k1"', '1'))
  await expect(page.getByText('Nothing of the progress was taken.')).toBeVisible()
  await open('own.progress.json', text)
  await expect(lab.get('lesson-kl')).toContainText(/\d left/)
})
