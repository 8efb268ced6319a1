/** Cuts a name of any length where there is no room for it; the pointer finds the whole. */
export function CutName({ name }: { readonly name: string }) {
  return (
    <span className="cut-name" title={name}>
      {name}
    </span>
  )
}
