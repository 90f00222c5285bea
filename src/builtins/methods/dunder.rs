//! The names of attributes that begin with an underscore.
//!
//! ```text
//! {{ "a".__class__.x }}    SecurityError: access to attribute '__class__' of 'str' object is unsafe.
//! {{ "a".__nope__.x }}     UndefinedError: 'str object' has no attribute '__nope__'
//! ```
//!
//! The sandbox refuses every such attribute that exists (jinja2 3.1.6 `sandbox.py`, `is_safe_attribute`), so only the names are needed.
//! They are those that `dir()` lists in CPython 3.13 with jinja2 3.1.6.

use crate::value::Type;

/// The names that every object has.
const OBJECT: &str = "__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__ __hash__ __init__ \
    __init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__ __str__ \
    __subclasshook__";

/// The names that numbers have.
const NUMBER: &str = "__abs__ __add__ __bool__ __ceil__ __divmod__ __float__ __floor__ __floordiv__ __getnewargs__ __int__ __mod__ __mul__ \
    __neg__ __pos__ __pow__ __radd__ __rdivmod__ __rfloordiv__ __rmod__ __rmul__ __round__ __rpow__ __rsub__ __rtruediv__ \
    __sub__ __truediv__ __trunc__";

/// The names that integers have besides those of all numbers.
const INTEGER: &str =
    "__and__ __index__ __invert__ __lshift__ __or__ __rand__ __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ __xor__";

/// The names of types with a length, items and an order.
const SEQUENCE: &str = "__add__ __contains__ __getitem__ __iter__ __len__ __mul__ __rmul__";

/// The names that strings have besides those of [`OBJECT`] and [`SEQUENCE`].
const TEXT: &str = "__getnewargs__ __mod__ __rmod__";

/// The names of the views of keys and of items, which have the operators of sets.
const SET: &str = "__and__ __contains__ __iter__ __len__ __or__ __rand__ __ror__ __rsub__ __rxor__ __sub__ __xor__";

/// The names that undefined values have besides those of [`OBJECT`].
const UNDEFINED: &str = "__add__ __aiter__ __bool__ __call__ __complex__ __div__ __float__ __floordiv__ __getattr__ __getitem__ __int__ \
    __iter__ __len__ __mod__ __module__ __mul__ __neg__ __pos__ __pow__ __radd__ __rdiv__ __rfloordiv__ __rmod__ __rmul__ \
    __rpow__ __rsub__ __rtruediv__ __slots__ __sub__ __truediv__ _fail_with_undefined_error _undefined_exception \
    _undefined_hint _undefined_message _undefined_name _undefined_obj";

/// The names of iterators.
const ITERATOR: &str = "__iter__ __next__";

/// The names that objects of a class written in Python have.
const INSTANCE: &str = "__dict__ __module__ __weakref__";

/// The names of functions written in Python.
const FUNCTION: &str = "__annotations__ __builtins__ __call__ __closure__ __code__ __defaults__ __dict__ __get__ __globals__ __kwdefaults__ \
    __module__ __name__ __qualname__";

/// The names of functions written in C.
const BUILTIN_FUNCTION: &str = "__call__ __module__ __name__ __qualname__ __self__ __text_signature__";

/// The names of classes.
const CLASS: &str = "__annotations__ __base__ __bases__ __basicsize__ __call__ __dict__ __dictoffset__ __flags__ \
    __instancecheck__ __itemsize__ __module__ __mro__ __name__ __or__ __prepare__ __qualname__ __ror__ __subclasscheck__ \
    __subclasses__ __text_signature__ __weakref__ __weakrefoffset__";

/// Returns whether objects of a type have an attribute of the given name, which begins with an underscore.
#[cold]
pub fn exists(ty: Type, name: &str) -> bool {
    let lists: &[&str] = match ty {
        // A namespace hides what its class has (jinja2 `utils.py`, `Namespace.__getattribute__`).
        Type::Namespace => return matches!(name, "__class__" | "_Namespace__attrs"),
        Type::None => &[OBJECT, "__bool__"],
        Type::Bool | Type::Int => &[OBJECT, NUMBER, INTEGER],
        Type::Float => &[OBJECT, NUMBER, "__getformat__"],
        Type::Str => &[OBJECT, SEQUENCE, TEXT],
        Type::Markup => &[
            OBJECT,
            SEQUENCE,
            TEXT,
            "__html__ __html_format__ __module__ __radd__ __slots__",
        ],
        Type::List => &[
            OBJECT,
            SEQUENCE,
            "__class_getitem__ __delitem__ __iadd__ __imul__ __reversed__ __setitem__",
        ],
        Type::Tuple => &[OBJECT, SEQUENCE, "__class_getitem__ __getnewargs__"],
        Type::Group => &[
            OBJECT,
            SEQUENCE,
            "__annotations__ __class_getitem__ __getnewargs__ __match_args__ __module__ __orig_bases__ __slots__",
            "_asdict _field_defaults _fields _make _replace",
        ],
        Type::Dict => &[
            OBJECT,
            "__class_getitem__ __contains__ __delitem__ __getitem__ __ior__ __iter__ __len__",
            "__or__ __reversed__ __ror__ __setitem__",
        ],
        Type::Keys | Type::Items => &[OBJECT, SET, "__reversed__"],
        Type::Values => &[OBJECT, "__iter__ __len__ __reversed__"],
        Type::Range => &[OBJECT, "__bool__ __contains__ __getitem__ __iter__ __len__ __reversed__"],
        Type::Undefined => &[OBJECT, UNDEFINED],
        Type::Generator => &[OBJECT, ITERATOR, "__del__ __name__ __qualname__"],
        Type::DictReverseIterator | Type::ValuesReverseIterator | Type::ItemsReverseIterator => {
            &[OBJECT, ITERATOR, "__length_hint__"]
        }
        Type::ListReverseIterator | Type::ReverseIterator | Type::RangeIterator => {
            &[OBJECT, ITERATOR, "__length_hint__ __setstate__"]
        }
        Type::Loop => &[
            OBJECT,
            INSTANCE,
            ITERATOR,
            "__annotations__ __call__ __len__ _after _before _current _iterable _iterator",
            "_last_changed_value _length _peek_next _recurse _to_iterator _undefined",
        ],
        Type::Macro => &[
            OBJECT,
            INSTANCE,
            "__call__ _argument_count _async_invoke _default_autoescape _environment _func _invoke",
        ],
        Type::Cycler => &[OBJECT, INSTANCE, "__next__"],
        Type::Missing => &[OBJECT, INSTANCE],
        Type::Joiner | Type::TemplateDict => &[OBJECT, INSTANCE, "__call__"],
        Type::Function => &[OBJECT, FUNCTION],
        Type::Method => &[OBJECT, FUNCTION, "__func__ __self__"],
        Type::BuiltinFunction => &[OBJECT, BUILTIN_FUNCTION],
        Type::Class => &[OBJECT, CLASS],
    };
    lists.iter().any(|list| list.split(' ').any(|other| other == name))
}

/// Returns whether the class `class` has an attribute `name`, which begins with an underscore and which other classes do not have.
#[cold]
pub fn exists_in_class(class: &str, name: &str) -> bool {
    match class {
        "cycler" => name == "__next__",
        "namespace" => matches!(name, "__setitem__" | "_check_name"),
        _ => false,
    }
}
