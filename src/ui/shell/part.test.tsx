// A part that throws: what is shown in its place, and that every part of the page has such a place.
import { type FunctionComponent, isValidElement, type ReactElement, type ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { InsideTab } from '../inside/InsideTab.tsx'
import { Panels } from '../part/Panels.tsx'
import { BrokenPart, Part } from '../part/Part.tsx'
import { pageReport } from '../part/report.ts'
import { TokensTab } from '../tokens/TokensTab.tsx'
import { App } from './App.tsx'

test('a part that threw is a sentence with its name, the error and two ways on', () => {
  const error = new TypeError('n is <b>null</b>')
  const html = renderToStaticMarkup(<BrokenPart name="The map" error={error} onRetry={() => {}} />)
  expect(html).toContain('The map cannot be shown because of a mistake in this page.')
  expect(html).toContain('A run in progress continues')
  expect(html).toContain('TypeError: n is &lt;b&gt;null&lt;/b&gt;')
  expect(html).toContain('Try again')
  expect(html).toContain('Copy report')
})

test('what is thrown takes the place of the children until it is tried again, and is in the report', async () => {
  vi.stubGlobal('navigator', { userAgent: '' })
  vi.stubGlobal('isSecureContext', true)
  vi.stubGlobal('crossOriginIsolated', false)
  const part = new Part({ name: 'The map', children: 'all is well' })
  part.setState = (state: unknown) => Object.assign(part.state, state)
  expect(part.render()).toBe('all is well')
  const error = new RangeError('index 9 of 3')
  part.state = { ...Part.getDerivedStateFromError(error) }
  part.componentDidCatch(error)
  const broken = part.render() as ReactElement<Parameters<typeof BrokenPart>[0]>
  expect(broken).toMatchObject({ type: BrokenPart, props: { name: 'The map', error } })
  broken.props.onRetry()
  expect(part.render()).toBe('all is well')
  expect(await pageReport()).toContain('The map: RangeError: index 9 of 3')
  vi.unstubAllGlobals()
})

test('a part may throw undefined, too', () => {
  const part = new Part({ name: 'The map', children: 'all is well' })
  part.state = Part.getDerivedStateFromError(undefined)
  expect(part.render()).toMatchObject({ type: BrokenPart })
})

/** Components that lie in no part of their own; a list of panels gives one to each. */
function loose(node: ReactNode, isAlone = false): string[] {
  if (Array.isArray(node)) return node.flatMap((child) => loose(child))
  if (!isValidElement<{ children?: ReactNode }>(node)) return []
  const { type, props } = node
  if (type === Panels) return []
  if (type === Part) return loose(props.children, true)
  if (typeof type === 'function') return isAlone ? [] : [type.name]
  return loose(props.children)
}

test.for<[string, FunctionComponent]>([
  ['the page', App],
  ['the tab Inside', InsideTab],
  ['the tab Tokens', TokensTab],
])('every component of %s lies in a part of its own', ([, Whole]) => {
  expect(loose(Whole({}) as ReactNode)).toEqual([])
})
