// A kept state of a run teaches another run: chosen beside the setting, refused, gone.
import { expectClean } from './axe.ts'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { waitForCheckpoint } from './stored.ts'
import { test } from './warm_page.ts'

const SMALL = `validation.test_freq=null&probe.freq=null&phases.0.steps=1&phases.0.batch_size=4${QUICK}`
const RUN = `v=1&p=tiny&name=A larger one&phases=sft&${SMALL}&model.num_hidden_layers=4`
const TAUGHT = `v=1&p=tiny&phases=sft,distill,rl&${SMALL}&phases.1.steps=2&phases.2.steps=1&phases.1.batch_size=4&phases.1.target_layer=2&actor.ppo_mini_batch_size=8`

test(
  'a kept state of a run is chosen as the teacher, and a run learns from it',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(RUN)
    await lab.get('train').click()
    await lab.waitForStatus('finished')
    await waitForCheckpoint(lab, 1)

    await lab.open(TAUGHT)
    await lab.waitForStatus('idle')
    await page
      .locator('summary', { hasText: /^Phase 2/ })
      .first()
      .click()
    const teacher = lab.get('teacher-of-phases-1-distillation-teacher')
    await expect(teacher.locator('option').first()).toHaveText('none')
    await teacher.selectOption({ label: 'A larger one, step 1' })
    await expect(teacher.locator('option').first()).toHaveText('A larger one, step 1')
    await expect(lab.get('field-phases-1-distillation-teacher')).toHaveValue('model')
    await expect(page.locator('.teacher-choice')).toContainText('4 layers of 32 channels')
    await expect(page.locator('.teacher-choice')).toContainText(
      /it takes \d[\d.]* [kKM]i?B of the GPU/,
    )
    await expectClean(lab, 'a teacher is chosen', '.settings')

    // Undo takes it back, and the shipped models teach too.
    await lab.get('undo').click()
    await expect(teacher.locator('option').first()).toHaveText('none')
    await lab.get('redo').click()
    await page.locator('summary', { hasText: /^Teacher/ }).click()
    const ofReward = lab.get('teacher-of-algorithm-opd_kl_coef')
    await ofReward.selectOption('shipped-small')
    await expect(lab.get('field-teacher-source_name')).toHaveValue('small')
    await expect(lab.get('field-algorithm-opd_kl_coef')).toHaveValue('1')
    await lab.get('undo').click()
    await expect(lab.get('field-teacher-source_name')).toHaveValue('A larger one, step 1')

    await lab.get('train').click()
    await lab.waitForStatus('finished')
    const { metrics } = (await lab.steps())[2]
    expect(metrics['distillation/loss']).toBeGreaterThan(0)

    // Its files may be gone on the day that somebody trains again.
    await page.evaluate(async () => {
      const origin = await navigator.storage.getDirectory()
      await origin.removeEntry('models', { recursive: true })
    })
    await page.reload()
    await expect(lab.get('missing-files')).toContainText('learns from A larger one, step 1')

    // Another task has another vocabulary.
    await lab.open(`${TAUGHT}&task.id=roman_numerals`)
    await lab.waitForStatus('idle')
    await page
      .locator('summary', { hasText: /^Phase 2/ })
      .first()
      .click()
    await teacher.selectOption({ label: 'A larger one, step 1' })
    await expect(page.locator('.teacher-choice [role=alert]')).toContainText(
      'was made with another vocabulary than task roman_numerals has',
    )
  },
)
