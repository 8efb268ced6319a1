// Makes every element of the page, in its language: what the compiler calls for JSX.
import type { ElementType, Key, ReactElement } from 'react'
import { jsx as plainJsx, jsxs as plainJsxs } from 'react/jsx-runtime'
import { type Props, translated } from '../translator.ts'

export { Fragment, type JSX } from 'react/jsx-runtime'

export const jsx = (type: ElementType, props: Props, key?: Key): ReactElement =>
  plainJsx(type, translated(type, props), key)

/** With children that are written one by one. */
export const jsxs = (type: ElementType, props: Props, key?: Key): ReactElement =>
  plainJsxs(type, translated(type, props), key)
