// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// The guest in a worker of the sandbox frame: the first message brings the program, every later one calls.

function serveWorker(scope) {
  const post = scope.postMessage.bind(scope)
  const listen = scope.addEventListener.bind(scope, 'message')
  let program
  const open = async (order) => {
    const is_python = order.language === 'python'
    const made = is_python
      ? await pythonProgram(
          scope,
          order,
          (name) =>
            import(URL.createObjectURL(new Blob([order.files[name]], { type: 'text/javascript' }))),
        )
      : javascriptProgram(order.source, order.entry)
    freezeTime(scope)
    confine(scope, is_python ? new Set([...KEPT, ...KEPT_FOR_PYTHON]) : KEPT)
    program = made
    post(JSON.stringify({ ready: true }))
  }
  listen(({ data }) => {
    if (program) for (const line of answers(program, data)) post(line)
    else open(data).catch((error) => post(stringify({ ready: false, error: messageOf(error) })))
  })
}
serveWorker(self)
