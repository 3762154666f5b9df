"""What C++ sources define, and where: as much of the language as that takes, without a compiler.

A definition is a function, class, variable, alias or call of a macro at the scope of a namespace or class, from its first token to
its last; declarations without a body count, too. Its name is its path (dice::channels::patience::wait). Anonymous namespaces are
no part of it; specialisations have their arguments in it (dice::kernels::kernel<openmp::backend,ops::slice>::compute).
"""
import dataclasses
import re

TOKEN = re.compile(r'''(?P<skip>\s+|\\\n|//(?:\\\n|[^\n])*|/\*.*?\*/)
  |(?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  |(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"\w*
  |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"\w*
  |(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
  |\.?\d(?:[eEpP][+-]|'\w|[\w.])*
  |[^\W\d]\w*
  |<<=|\.\.\.|<=>|->\*|::|->|\+\+|--|<<|[<>=!+\-*/%&|^]=|&&|\|\||\#\#
  |.''', re.DOTALL | re.MULTILINE | re.VERBOSE)  # >> is two tokens: it may end two lists of template arguments
CONDITION = re.compile('if|el|endif')
WORD = re.compile(r'[^\W\d]\w*$')
LIKE_CALLS = set('decltype noexcept alignas explicit __attribute__ _Pragma'.split())  # words before brackets that are no names


@dataclasses.dataclass
class Token:
    text: str
    start: int
    end: int
    directive: bool  # whether it is part of one


def tokens(text, offset=0, directive=False):
    """The tokens of a source, without comments."""
    out = []
    for found in TOKEN.finditer(text):
        if found.lastgroup == 'skip':
            continue
        if found['directive'] and not directive:
            begin = found.start() + found[0].index('#') + 1
            out += [Token('#', begin - 1, begin, True), *tokens(text[begin:found.end()], begin, True)]
        else:
            out.append(Token(found[0], found.start() + offset, found.end() + offset, directive))
    return out


@dataclasses.dataclass
class Definition:
    path: tuple  # the parts of its name
    first: int
    last: int  # its tokens


def of(all_tokens):
    """The definitions of a source with these tokens."""
    return Parser(all_tokens).found


class Parser:
    def __init__(self, all_tokens):
        # Of directives, only conditions count, as '#if', '#el' and '#endif'.
        self.at, self.text, self.found = [], [], []
        for i, t in enumerate(all_tokens):
            if not t.directive:
                self.at.append(i), self.text.append(t.text)
            elif t.text == '#' and (word := CONDITION.match(all_tokens[i + 1].text if i + 1 < len(all_tokens) else '')):
                self.at.append(i), self.text.append('#' + word[0])
        self.count = len(self.text)
        self.text += 3 * [';']  # so that what is cut short ends
        self.at += 3 * self.at[-1:]
        self.scope(0, self.count, ())

    # Functions that take the index of a token and return another.

    def close(self, i):
        """The bracket that closes the one at i. In each branch of a condition, brackets are as deep as before it."""
        depth, branches = 0, []
        for k in range(i, self.count):
            t = self.text[k]
            if t in ('(', '[', '{'):
                depth += 1
            elif t in (')', ']', '}'):
                depth -= 1
                if depth == 0:
                    return k
            elif t == '#if':
                branches.append(depth)
            elif t == '#el' and branches:
                depth = branches[-1]
            elif t == '#endif' and branches:
                branches.pop()
        return self.count - 1

    def behind_angles(self, i):
        """What follows the template arguments that begin at i."""
        depth = 0
        while i < self.count:
            if self.text[i] in ('(', '[', '{'):
                i = self.close(i)
            depth += (self.text[i] == '<') - (self.text[i] == '>')
            i += 1
            if depth == 0:
                break
        return i

    def behind_constraint(self, i):
        """What follows the constraint of `requires` at i."""
        while True:
            i += 1
            if self.text[i] == 'requires':
                i = self.close(i + 1) + 1 if self.text[i + 1] == '(' else i + 1
                i = self.close(i) + 1
            elif self.text[i] == '(':
                i = self.close(i) + 1
            else:
                i = self.name(i + (self.text[i] == '!'))[1]
            if self.text[i] not in ('&&', '||'):
                return i

    def semicolon(self, i):
        """The semicolon that ends the declaration that goes on at i."""
        while i < self.count and self.text[i] != ';':
            i = self.close(i) + 1 if self.text[i] in ('(', '[', '{') else i + 1
        return i

    def name(self, i):
        """The qualified name that begins at i, as parts; and what follows it."""
        out, part = [], ''
        while i < self.count:
            t = self.text[i]
            if t == '::':
                out, part, i = (out + [part] if part else out), '', i + 1
            elif t == 'operator' and not part:
                begin, i = i, i + 1
                while self.text[i] not in ('(', ';') or i == begin + 1 and self.text[i + 1] == ')':
                    i += 2 if self.text[i] == '(' else 1
                return out + [''.join(self.text[begin:i])], i
            elif t == '~' or WORD.match(t) and part in ('', '~'):
                part, i = part + t, i + 1
            elif t == '<' and part:
                begin, i = i, self.behind_angles(i)
                part += ''.join(self.text[begin:i])
            else:
                break
        return out + [part], i

    # Functions that add definitions and return what follows them.

    def add(self, path, first, last):
        self.found.append(Definition(tuple(path), self.at[first], self.at[last]))
        return last + 1

    def scope(self, i, end, path):
        while i < end:
            if self.text[i] in (';', '}') or self.text[i][0] == '#':
                i += 1
            elif self.text[i] in ('public', 'private', 'protected') and self.text[i + 1] == ':':
                i += 2
            else:
                i = self.declaration(i, path)
        return end + 1

    def declaration(self, first, path):
        i, named = first, []
        while True:
            t = self.text[i]
            if t == 'template':
                i = self.behind_angles(i + 1) if self.text[i + 1] == '<' else i + 1
            elif t == 'requires':
                i = self.behind_constraint(i)
            elif t == '[':
                i = self.close(i) + 1
            elif t in LIKE_CALLS and self.text[i + 1] == '(':
                i = self.close(i + 1) + 1
            elif t == 'extern' and self.text[i + 1][0] == '"':
                i += 2
                if self.text[i] == '{':
                    return self.scope(i + 1, self.close(i), path)
            elif t == 'namespace':
                return self.namespace(i, path)
            elif t in ('using', 'static_assert', 'typedef'):
                return self.add((*path, self.text[i + 1] if t == 'using' else t), first, self.semicolon(i))
            elif t in ('struct', 'class', 'union', 'enum') and (behind := self.a_class(i, first, path)):
                return behind
            elif t in (';', '=', '{', ':', ','):  # a variable, or several
                return self.add((*path, *named), first, self.semicolon(i))
            elif t in ('::', '~') or WORD.match(t):
                named, i = self.name(i)
                if self.text[i] == '(' and self.text[i + 1] == '*':  # a pointer to a function
                    return self.add((*path, self.text[i + 2]), first, self.semicolon(i))
                if self.text[i] == '(':
                    return self.function(i, first, (*path, *named))
            else:
                i += 1

    def namespace(self, i, path):
        begin = i + 1
        while self.text[i] not in ('{', ';', '='):
            i = self.close(i) + 1 if self.text[i] == '[' else i + 1
        if self.text[i] != '{':
            return self.semicolon(i) + 1
        return self.scope(i + 1, self.close(i), (*path, *(t for t in self.text[begin:i] if WORD.match(t) and t != 'inline')))

    def a_class(self, i, first, path):
        """Of a class or enumeration whose keyword is at i; None if a variable or function of its type is declared."""
        is_enum, i = self.text[i] == 'enum', i + 1
        while self.text[i] in ('class', 'struct', '[', 'alignas'):
            i = self.close(i) + 1 if self.text[i] == '[' else self.close(i + 1) + 1 if self.text[i] == 'alignas' else i + 1
        name, i = self.name(i) if WORD.match(self.text[i]) else ([], i)
        i += self.text[i] == 'final'
        if self.text[i] == ':':
            while self.text[i] not in ('{', ';'):
                i = self.behind_angles(i) if self.text[i] == '<' else self.close(i) + 1 if self.text[i] == '(' else i + 1
        if self.text[i] == ';':
            return self.add((*path, *name), first, i)
        if self.text[i] != '{':
            return None
        end = self.close(i)
        name = name or [t for t in self.text[end + 1:end + 2] if WORD.match(t)]  # of a variable
        if not is_enum:
            self.scope(i + 1, end, (*path, *name))
        return self.add((*path, *name), first, self.semicolon(end))

    def function(self, i, first, path):
        """Of a function, a variable or a macro's call whose round bracket is at i."""
        i = self.close(i) + 1
        if path[-1].isupper() and self.text[first] == path[-1] and self.text[i] not in ('{', ';'):  # a macro without semicolon
            return self.add(path, first, i - 1)
        while self.text[i] not in ('{', ';', '=', ','):
            if self.text[i] == 'requires':
                i = self.behind_constraint(i)
            elif self.text[i] == ':':  # a constructor's members
                while self.text[i] not in ('{', ';') or WORD.match(self.text[i - 1]) or self.text[i - 1] == '>':
                    t, i = self.text[i], i + 1
                    i = self.close(i - 1) + 1 if t in ('(', '{') else self.behind_angles(i - 1) if t == '<' else i
            else:
                i = self.close(i) + 1 if self.text[i] in ('(', '[') else i + 1
        return self.add(path, first, self.close(i) if self.text[i] == '{' else self.semicolon(i))
