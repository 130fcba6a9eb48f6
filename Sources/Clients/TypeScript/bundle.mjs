// Makes dist/: one module and one declaration file for each folder of src/, small enough to be sent to browsers.
//
//   node bundle.mjs FOLDER      writes FOLDER/{core,web,browser,node,testing}.{js,d.ts} and FOLDER/shared.js
//
// The code of the core is in shared.js, where the other modules find all that they use by its short name. core.js names what an app
// may use, and nothing else.
//
// It needs the TypeScript of `tsc` alone. Names of local variables, of module-level declarations, and of private and protected members
// are shortened; all that an app can see keeps its name.

import {mkdirSync, readdirSync, realpathSync, writeFileSync} from "node:fs"
import {createRequire} from "node:module"
import {delimiter, dirname, join, relative, resolve} from "node:path"
import {fileURLToPath} from "node:url"
import {declarationsOf} from "./bundle-types.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const output = resolve(process.argv[2] ?? "dist")
const tsc = process.env.PATH.split(delimiter).map((folder) => join(folder, "tsc")).find((path) => {
    try { return realpathSync(path) } catch { return false }
})
if (!tsc) throw new Error("needs tsc (Debian package node-typescript)")
const ts = createRequire(realpathSync(tsc))("../lib/typescript.js")

const settings = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(here, "tsconfig.json"), ts.sys.readFile).config, ts.sys, here)
const program = ts.createProgram(settings.fileNames, settings.options)
const checker = program.getTypeChecker()
const problems = ts.getPreEmitDiagnostics(program)
if (problems.length) {
    const host = {getCanonicalFileName: (name) => name, getCurrentDirectory: () => here, getNewLine: () => "\n"}
    throw new Error(ts.formatDiagnostics(problems, host))
}
const source = join(here, "src")
const groups = readdirSync(source).filter((name) => !name.includes("."))
const groupOf = (path) => relative(source, path).split("/")[0]
const own = program.getSourceFiles().filter((file) => !file.isDeclarationFile && file.fileName.startsWith(source))

/** The symbol of the declaration: not an alias, and not that of a member for one type of `this`. */
function resolved(symbol) {
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return (target?.valueDeclaration ?? target?.declarations?.[0])?.symbol ?? target
}
const isOwn = (symbol) => !!symbol?.declarations?.length &&
    symbol.declarations.every((declaration) => own.includes(declaration.getSourceFile()))

/** The files that a file imports, which are of the program. */
const importsOf = (file) => file.statements
    .filter((statement) => (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) && statement.moduleSpecifier)
    .map((statement) => own.find((other) =>
        other.fileName === resolve(dirname(file.fileName), statement.moduleSpecifier.text.replace(/\.js$/, ".ts"))))
    .filter(Boolean)

/** The files of a group, each after those that it imports. */
function ordered(group) {
    const files = []
    const visit = (file) => {
        if (files.includes(file) || groupOf(file.fileName) !== group) return
        files.push(null)
        const place = files.length - 1
        files.splice(place, 1)
        for (const other of importsOf(file)) if (!visiting.has(other)) {
            visiting.add(other)
            visit(other)
        }
        if (!files.includes(file)) files.push(file)
    }
    const visiting = new Set()
    for (const file of own.filter((file) => groupOf(file.fileName) === group)) visit(file)
    return files
}

// Names

const letters = "abcdefghijklmnopqrstuvwxyz"
const short = (number) =>
    (number >= 26 ? short(Math.floor(number / 26) - 1) : "") + letters[number % 26]
const reserved = new Set(["as", "do", "if", "in", "is", "of", "for", "get", "set", "let", "new", "try", "var"])
const taken = new Set()
const collect = (node) => {
    if (ts.isIdentifier(node) || ts.isStringLiteral(node)) taken.add(node.text)
    ts.forEachChild(node, collect)
}
own.forEach(collect)

const counts = new Map()
const isMember = (symbol) => symbol.declarations.some((declaration) =>
    ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected))
const declarationOf = (symbol) => symbol.valueDeclaration ?? symbol.declarations[0]
const isParameterProperty = (node) => ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)
/** What is shortened: `member`, `module` or `local`; null: nothing. */
function kindOf(symbol) {
    if (!isOwn(symbol)) return null
    const node = declarationOf(symbol)
    if (isParameterProperty(node)) return isMember(symbol) ? "member" : null
    if (ts.isClassElement(node)) return isMember(symbol) ? "member" : null
    const isValue = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node) ||
        ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)
    if (!isValue) return null
    const isTop = (ts.isVariableDeclaration(node) ? node.parent.parent.parent : node.parent) === node.getSourceFile()
    return isTop ? "module" : "local"
}

/** The member that a protected one overrides has the same name. */
function rooted(symbol) {
    const node = declarationOf(symbol)
    // A parameter that makes a property has the name of the property.
    if (isParameterProperty(node)) return parameterProperty(node)
    if (!ts.isClassElement(node) || !ts.isClassLike(node.parent)) return symbol
    for (let type = node.parent; type; ) {
        const base = ts.getClassExtendsHeritageElement?.(type)?.expression ??
            type.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression
        const found = base && checker.getTypeAtLocation(base).symbol && resolved(checker.getSymbolAtLocation(base))
        type = found?.valueDeclaration
        const member = found?.members?.get(symbol.escapedName)
        if (member) symbol = member
    }
    return symbol
}

/** The edits of a file: place, end, new text. Names come from `nameOf`. */
function edits(file, nameOf) {
    const found = []
    const named = (symbol) => {
        const target = resolved(symbol)
        return target && kindOf(target) ? nameOf(rooted(target)) : null
    }
    const visit = (node) => {
        if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
            if (!ts.isExpressionWithTypeArguments(node)) return
        }
        if (ts.isImportDeclaration(node)) return
        if (ts.isShorthandPropertyAssignment(node)) {
            const name = named(checker.getShorthandAssignmentValueSymbol(node))
            if (name) found.push([node.name.getStart(), node.name.end, `${node.name.text}: ${name}`])
            return
        }
        if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent) && ts.isIdentifier(node.name)) {
            const property = node.propertyName ?? node.name
            const member = checker.getTypeAtLocation(node.parent).getProperty(property.text)
            const from = (member && named(member)) || property.text
            const to = named(checker.getSymbolAtLocation(node.name)) ?? node.name.text
            const start = (node.propertyName ?? node.name).getStart()
            if (!node.dotDotDotToken) found.push([start, node.name.end, from === to ? from : `${from}: ${to}`])
            else found.push([node.name.getStart(), node.name.end, to])
            if (node.initializer) visit(node.initializer)
            return
        }
        if (ts.isIdentifier(node)) {
            const symbol = checker.getSymbolAtLocation(node)
            const name = named(symbol)
            if (name) found.push([node.getStart(), node.end, name])
        }
        ts.forEachChild(node, visit)
    }
    visit(file)
    return found
}

/** The property that a parameter of a constructor makes. */
const parameterProperty = (node) => checker.getSymbolsOfParameterPropertyDeclaration(node, node.name.text)[1]

const names = new Map()
function assign() {
    for (const file of own) edits(file, (symbol) => (counts.set(symbol, (counts.get(symbol) ?? 0) + 1), "x"))
    // Members have two letters, so that one which is a parameter as well is no local variable.
    const numbers = {member: letters.length, module: 0}
    const locals = new Map()
    const next = (kind) => {
        for (;;) {
            const name = kind === "module" ? short(numbers[kind]++).replace(/^./, (letter) => letter.toUpperCase()) : short(numbers[kind]++)
            if (!taken.has(name) && !reserved.has(name)) return name
        }
    }
    for (const symbol of [...counts.keys()].sort((left, right) => counts.get(right) - counts.get(left))) {
        const kind = kindOf(symbol)
        if (kind !== "local") {
            names.set(symbol, next(kind))
            continue
        }
        // Names start anew in each member of a class and each function of a module.
        let scope = declarationOf(symbol)
        while (scope.parent.kind !== ts.SyntaxKind.SourceFile && !ts.isClassLike(scope.parent)) scope = scope.parent
        let number = locals.get(scope) ?? 0
        while (reserved.has(short(number))) number += 1
        if (number >= letters.length) throw new Error("too many local variables in one function")
        names.set(symbol, short(number))
        locals.set(scope, number + 1)
    }
}
assign()

function edited(file) {
    const text = file.text
    let [result, place] = ["", 0]
    const dropped = file.statements
        .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
        .map((statement) => [statement.getStart(), statement.end, ""])
    const exported = []
    for (const statement of file.statements) {
        for (const modifier of statement.modifiers ?? []) {
            if (modifier.kind === ts.SyntaxKind.ExportKeyword) exported.push([modifier.getStart(), modifier.end, ""])
        }
    }
    const all = [...edits(file, (symbol) => names.get(symbol)), ...dropped, ...exported].sort((left, right) => left[0] - right[0])
    for (const [start, end, replacement] of all) {
        if (start < place) continue
        result += text.slice(place, start) + replacement
        place = end
    }
    return result + text.slice(place)
}

/** Joins the tokens of a script with as little white space as the grammar needs. */
function squeezed(script) {
    const file = ts.createSourceFile("all.js", script, ts.ScriptTarget.ES2020, true, ts.ScriptKind.JS)
    let text = ""
    let isDeclared = false
    const areDeclarations = (node) => !!(node.declarationList.flags & ts.NodeFlags.BlockScoped)
    const write = (token) => {
        const last = text.slice(-1)
        const first = token[0]
        const isWord = (character) => /[\w$#]/.test(character)
        if ((isWord(last) && isWord(first)) || (last === first && "+-/".includes(first)) || (last === "/" && isWord(first))) text += " "
        text += token
    }
    const visit = (node) => {
        if (node.kind === ts.SyntaxKind.EndOfFileToken) return
        if (ts.isExportSpecifier(node) && node.propertyName?.text === node.name.text) return write(node.name.text)
        let children = node.getChildren(file).filter((child) => child.kind < ts.SyntaxKind.FirstJSDocNode ||
            child.kind > ts.SyntaxKind.LastJSDocNode)
        // A single parameter without a default needs no parentheses.
        const [only] = ts.isArrowFunction(node) && node.parameters.length === 1 ? node.parameters : []
        if (only && ts.isIdentifier(only.name) && !only.initializer && !only.dotDotDotToken) {
            children = children.filter((child) =>
                child.kind !== ts.SyntaxKind.OpenParenToken && child.kind !== ts.SyntaxKind.CloseParenToken)
        }
        if (ts.isVariableStatement(node) && areDeclarations(node)) {
            // Declarations that follow one another are one.
            if (isDeclared) text = text.replace(/;$/, ",")
            node.declarationList.getChildren(file).slice(isDeclared ? 1 : 0).forEach(visit)
            write(";")
            isDeclared = true
            return
        }
        isDeclared = false
        if (node.kind === ts.SyntaxKind.TrueKeyword) write("!0")
        else if (node.kind === ts.SyntaxKind.FalseKeyword) write("!1")
        else if (node.kind === ts.SyntaxKind.ConstKeyword) write("let")
        else if (children.length) children.forEach(visit)
        else if (node.getText(file)) write(node.getText(file))
    }
    visit(file)
    return text.replace(/;}/g, "}")
}

const fileOf = (group) => (group === "core" ? "shared" : group)
const groupOfSymbol = (symbol) => groupOf(declarationOf(symbol).getSourceFile().fileName)
const clause = (pairs) => `export {${[...pairs].map(([inner, outer]) => `${inner} as ${outer}`).join(", ")}}`

/** What the entry of a group lets an app use of that group, or of another one: name inside, name outside. */
function entryOf(group, of = group) {
    const entry = own.find((file) => file.fileName === join(source, group, "index.ts"))
    const exported = new Map()
    for (const symbol of entry ? checker.getExportsOfModule(checker.getSymbolAtLocation(entry)) : []) {
        const name = names.get(rooted(resolved(symbol)))
        if (name && groupOfSymbol(resolved(symbol)) === of) exported.set(name, symbol.name)
    }
    return exported
}

/** What other groups use of a group, by its short name. */
function sharedOf(group) {
    const shared = new Map()
    const add = (symbol) => {
        const name = names.get(rooted(resolved(symbol)))
        if (name && groupOfSymbol(resolved(symbol)) === group) shared.set(name, name)
    }
    for (const file of own.filter((file) => groupOf(file.fileName) !== group)) {
        for (const statement of file.statements.filter(ts.isImportDeclaration)) {
            statement.importClause?.namedBindings?.elements?.forEach((element) => add(checker.getSymbolAtLocation(element.name)))
        }
    }
    return shared
}

function module(group) {
    const files = ordered(group)
    const needed = new Map()
    for (const file of files) {
        for (const statement of file.statements.filter(ts.isImportDeclaration)) {
            const specifier = statement.moduleSpecifier.text
            for (const element of statement.importClause?.namedBindings?.elements ?? []) {
                const symbol = resolved(checker.getSymbolAtLocation(element.name))
                const isForeign = specifier.startsWith("node:")
                const from = isForeign ? specifier : groupOf(declarationOf(symbol).getSourceFile().fileName)
                if (from === group || statement.importClause.isTypeOnly || (!isForeign && !names.get(rooted(symbol)))) continue
                const path = isForeign ? specifier : `./${fileOf(from)}.js`
                needed.set(path, (needed.get(path) ?? new Set()).add(isForeign ? element.name.text : names.get(rooted(symbol))))
            }
        }
    }
    let head = ""
    for (const [path, list] of needed) {
        head += `import {${[...list].join(", ")}} from "${path}"\n`
    }
    const stars = files.flatMap((file) => file.statements).filter((statement) =>
        ts.isExportDeclaration(statement) && !statement.exportClause).map((statement) =>
        groupOf(resolve(join(source, group), statement.moduleSpecifier.text)))
    for (const other of new Set(stars)) {
        if (other !== group) head += `${clause(entryOf(group, other))} from "./${fileOf(other)}.js"\n`
    }
    const list = group === "core" ? [...entryOf(group).keys()].map((name) => [name, name]) : entryOf(group)
    const script = head + files.map(edited).join("\n") + `\n${clause(new Map([...sharedOf(group), ...list]))}\n`
    const options = {...settings.options, declaration: false, removeComments: true, importsNotUsedAsValues: undefined}
    const plain = ts.transpileModule(script, {compilerOptions: {...options, preserveValueImports: false}}).outputText
    return squeezed(plain) + "\n"
}

mkdirSync(output, {recursive: true})
const present = groups.filter((group) => own.some((file) => groupOf(file.fileName) === group))
for (const group of present) writeFileSync(join(output, `${fileOf(group)}.js`), module(group))
writeFileSync(join(output, "core.js"), squeezed(`${clause(entryOf("core"))} from "./${fileOf("core")}.js"`) + "\n")
for (const [group, text] of declarationsOf(ts, program, source, present)) writeFileSync(join(output, `${group}.d.ts`), text)
