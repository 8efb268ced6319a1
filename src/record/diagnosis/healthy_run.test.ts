import { expect, test } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import { diagnose } from './diagnosis.ts'
import { plain } from './testing.ts'

/** The last phase of preset tiny, seed 1, as `lab train tiny` wrote it on lavapipe; three digits of
 * each number. */
const HEALTHY: Readonly<Record<string, string>> = {
  'critic/score/mean':
    '.242 .195 .164 .242 .203 .273 .281 .32 .258 .305 .43 .352 .211 .273 .297 .445 .344 .312 .344 ' +
    '.344 .422 .383 .422 .375 .422 .414 .453 .352 .406 .445 .422 .484 .484 .523 .445 .469 .484 ' +
    '.453 .516 .5 .539 .562 .484 .578 .539 .492 .625 .625 .609 .594',
  'group/informative':
    '.719 .594 .531 .656 .594 .781 .688 .75 .656 .719 .844 .844 .719 .688 .719 .812 .875 .719 ' +
    '.781 .688 .781 .719 .75 .688 .719 .812 .781 .531 .781 .812 .781 .75 .844 .75 .75 .781 .781 ' +
    '.781 .844 .75 .75 .75 .781 .688 .656 .812 .719 .875 .75 .531',
  'actor/entropy':
    '1.37 1.38 1.4 1.39 1.38 1.32 1.29 1.24 1.27 1.23 1.2 1.25 1.25 1.22 1.18 1.09 1.11 1.08 1.07 ' +
    '1.09 1.03 1.09 1.06 1.04 .996 .971 .95 .92 .936 .893 .843 .856 .856 .798 .845 .847 .773 .764 ' +
    '.822 .749 .731 .715 .702 .651 .684 .707 .608 .626 .636 .627',
  'actor/ppo_kl':
    '.000326 .00072 .0061 .00367 -.000497 .00308 -.000165 .00301 -.00438 .000801 .00147 .00119 ' +
    '-.00177 -.002 .000122 .000636 .00828 -.000296 -.000534 .00832 .00374 -.000784 -6.01e-05 ' +
    '.00494 .00304 .00078 -.000101 .000916 .0047 .00506 1.17e-05 -.000663 .00069 .000174 .00115 ' +
    '.00302 6.91e-05 .002 .00278 -.00242 -.00016 .0102 .00799 .000603 -.00247 .00119 -.00208 ' +
    '-.000877 .00626 -.00218',
  'actor/pg_clipfrac':
    '0 0 .00418 .00418 .0021 .00446 .00418 .00412 .00202 0 .00625 .00202 .00405 .006 0 .00198 ' +
    '.00617 .00412 .00208 .00837 .00407 0 0 .00398 .002 .00417 0 .00617 .00992 .00209 0 .00816 ' +
    '.00202 0 .00403 .00407 0 .00412 .00205 0 0 .0081 .0202 .00413 .0041 .00412 0 0 .0139 0',
  'response_length/mean':
    '3.84 3.79 3.76 3.68 3.77 3.6 3.73 3.77 3.73 3.77 3.84 3.83 3.85 3.87 3.79 3.9 3.74 3.75 3.77 ' +
    '3.7 3.85 3.83 3.8 3.92 3.91 3.81 3.77 3.73 3.89 3.71 3.66 3.8 3.8 3.88 3.83 3.85 3.87 3.84 ' +
    '3.88 3.88 3.89 3.84 3.8 3.84 3.8 3.84 3.84 3.85 3.91 3.89',
  'response/not_ended_ratio':
    '.211 .195 .359 .273 .289 .273 .195 .211 .305 .234 .219 .305 .352 .344 .258 .281 .195 .188 ' +
    '.188 .141 .195 .25 .18 .305 .273 .172 .156 .125 .164 .109 .117 .109 .109 .117 .133 .133 .117 ' +
    '.133 .164 .164 .0859 .0938 .0938 .0859 .102 .141 .0547 .0859 .0703 .0703',
}
const HEALTHY_ACCURACY: readonly (readonly [number, number])[] = [
  [80, 0.2734],
  [90, 0.3828],
  [100, 0.4531],
  [110, 0.4922],
  [120, 0.5234],
]

test('a healthy run of preset tiny is never found anything wrong with', () => {
  const experiment = presetOf('tiny')?.experiment ?? plain
  const phaseStart = 70
  const series = new Map<string, Series>()
  const values = Object.entries(HEALTHY).map(
    ([name, text]) => [name, text.split(' ').map(Number)] as const,
  )
  for (let i = 0; i < 50; i++) {
    const step = phaseStart + 1 + i
    const accuracy = HEALTHY_ACCURACY.find(([at]) => at === step)
    appendMetrics(series, step, {
      ...Object.fromEntries(values.map(([name, column]) => [name, column[i]])),
      ...(accuracy && { 'val-core/sort_digits/acc/mean@1': accuracy[1] }),
    })
    expect(diagnose({ experiment, phase: 2, phaseStart, series }), `step ${step}`).toEqual([])
  }
})
