// One declaration file for each folder of src/: what an app can see, the chain of classes that makes the client joined into one.
// Comments are left out: compressed, they were twice as large as the declarations, and a sixth of the archive.

import {join, relative} from "node:path"

export function declarationsOf(ts, program, source, groups) {
    const texts = new Map()
    program.emit(undefined, (path, text) => {
        if (path.endsWith(".d.ts")) texts.set(path, text)
    }, undefined, true)
    const settings = program.getCompilerOptions()
    const files = [...texts].map(([path, text]) => {
        const file = ts.createSourceFile(path, text, settings.target, true)
        return Object.assign(file, {group: relative(settings.outDir, path).split("/")[0]})
    })

    /** The declarations of all files by name, and whether the entry of their group exports them. */
    const named = new Map()
    for (const file of files) {
        for (const statement of file.statements) {
            const list = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement]
            for (const one of list) if (one.name?.text) named.set(`${file.group}/${one.name.text}`, {statement, file})
        }
    }
    const publicOf = new Map(groups.map((group) => [group, new Set()]))
    for (const group of groups) {
        const entry = files.find((file) => file.fileName === join(settings.outDir, group, "index.d.ts"))
        for (const statement of entry?.statements ?? []) {
            if (ts.isExportDeclaration(statement)) {
                statement.exportClause?.elements.forEach((element) => publicOf.get(group).add(element.name.text))
            } else if (statement.name) publicOf.get(group).add(statement.name.text)
            else if (ts.isVariableStatement(statement)) {
                statement.declarationList.declarations.forEach((one) => publicOf.get(group).add(one.name.text))
            }
        }
    }
    // A group is written after those that use it, with what they need of it besides.
    const users = (group) => files.filter((file) => file.group !== group && new RegExp(`/${group}/`).test(file.text)).length
    const needs = new Map(groups.map((group) => [group, new Set()]))
    return [...groups].sort((left, right) => users(left) - users(right)).map((group) =>
        [group, rolledUp(ts, group, named, publicOf, needs, files)])
}

const isHidden = (ts, member) => !!(ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) ||
    (member.name && ts.isPrivateIdentifier(member.name))

function rolledUp(ts, group, named, publicOf, needs, files) {
    const written = new Map()
    const foreign = new Map()
    const whereIs = (name, from) =>
        [from, ...publicOf.keys()].map((place) => [place, named.get(`${place}/${name}`)]).find(([, found]) => found)

    /** Notes the names in a node, and writes what they stand for. */
    const follow = (node, from) => {
        const visit = (child) => {
            if (ts.isIdentifier(child)) {
                const found = whereIs(child.text, from)
                const isReference = !(child.parent.name === child) || ts.isTypeReferenceNode(child.parent)
                if (found && isReference) {
                    if (found[0] === group) write(child.text)
                    else {
                        foreign.set(found[0], (foreign.get(found[0]) ?? new Set()).add(child.text))
                        needs.get(found[0]).add(child.text)
                    }
                }
            }
            ts.forEachChild(child, visit)
        }
        visit(node)
    }

    const bodyOf = (statement, file) => {
        if (!ts.isClassDeclaration(statement)) {
            follow(statement, group)
            return statement.getText(file).replace(/^(export )?(declare )?/, "export declare ")
                .replace(/^export declare (interface|type)/, "export $1")
        }
        const members = []
        let heritage = ""
        // The parts of the client are classes of one chain, of which an app sees the last one.
        for (let [one, place] = [statement, file]; one; ) {
            for (const member of one.members.filter((member) => !isHidden(ts, member))) {
                if (one !== statement && ts.isConstructorDeclaration(member) && members.some((text) => /^constructor/m.test(text))) continue
                if (members.some((text) => text.includes(`${member.name?.getText(place)}(`)) && one !== statement) continue
                follow(member, group)
                members.push(member.getText(place))
            }
            const base = one.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0]
            const rest = one.heritageClauses?.filter((clause) => clause.token !== ts.SyntaxKind.ExtendsKeyword) ?? []
            const found = base && whereIs(base.expression.getText(place), group)
            rest.forEach((clause) => follow(clause, group))
            if (base && (!found || found[0] !== group || publicOf.get(group).has(base.expression.getText(place)))) {
                follow(base, group)
                heritage += " extends " + base.getText(place)
            }
            heritage += rest.length ? " " + rest.map((clause) => clause.getText(place)).join(" ") : ""
            one = heritage.includes("extends") ? null : found?.[1].statement
            place = found?.[1].file
        }
        const head = `export declare class ${statement.name.text}${heritage} {`
        return [head, ...members, "}"].join("\n")
    }

    const write = (name) => {
        if (written.has(name)) return
        const {statement, file} = named.get(`${group}/${name}`)
        written.set(name, "")
        written.set(name, bodyOf(statement, file))
    }
    for (const name of publicOf.get(group)) if (named.has(`${group}/${name}`)) write(name)
    for (const name of needs.get(group)) if (named.has(`${group}/${name}`)) write(name)
    const stars = files.filter((file) => file.group === group).flatMap((file) => file.statements.filter((statement) =>
        ts.isExportDeclaration(statement) && !statement.exportClause).map((statement) => statement.moduleSpecifier.text))
    const others = new Set(stars.map((path) => path.split("/").slice(-2)[0]).filter((other) => other !== group && other !== "."))
    const head = [...others].map((other) => `export * from "./${other}.js"`)
    for (const [other, list] of foreign) head.push(`import {${[...list].sort().join(", ")}} from "./${other}.js"`)
    const text = [...head, ...written.values()].join("\n")
    return text.replace(/\/\*\*.*?\*\//gs, "").replace(/^[ \t]+/gm, "").replace(/\n+/g, "\n") + "\n"
}
