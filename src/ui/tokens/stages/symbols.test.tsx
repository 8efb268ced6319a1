import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Symbols } from './Symbols.tsx'

const set = (text: string) =>
  renderToStaticMarkup(<Symbols text={text} />)
    .replaceAll(' translate="no"', '')
    .replaceAll(/<\/?span>/g, '')

test('what belongs below a letter stands there', () => {
  expect(set('r_t + γ · G_t+1')).toBe('r<sub>t</sub> + γ · G<sub>t+1</sub>')
  expect(set('exp(log π − log π_old)')).toBe('exp(log π − log π<sub>old</sub>)')
  expect(set('1 + ε_low')).toBe('1 + ε<sub>low</sub>')
  // Names of settings are as they are written in files.
  expect(set('loss_mode and kl_cov')).toBe('loss_mode and kl_cov')
})
