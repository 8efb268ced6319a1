/** The id of what may be a record; '' where it has none. */
export function idOf(value: unknown): string {
  const { id } = Object(value) as { readonly id?: unknown }
  return typeof id === 'string' ? id : ''
}
