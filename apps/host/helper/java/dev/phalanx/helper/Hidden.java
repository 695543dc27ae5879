package dev.phalanx.helper;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Calls of Android that its SDK does not show, or not in every release. */
final class Hidden {
    private Hidden() {}

    /** Null where this release has none. */
    static Method find(Class<?> owner, String name, Class<?>... types) {
        try {
            Method method = owner.getDeclaredMethod(name, types);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException missing) {
            return null;
        }
    }

    static Object call(Object target, Method method, Object... values) throws Exception {
        try {
            return method.invoke(target, values);
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof Exception) throw (Exception) failed.getCause();
            throw failed;
        }
    }

    static Object call(Object target, String name) throws Exception {
        Method method = find(target.getClass(), name);
        if (method == null) throw new NoSuchMethodException(target.getClass() + "." + name);
        return call(target, method);
    }

    /** The service of that name, by the interface that Android's own classes use. */
    static Object service(String name, String type) throws Exception {
        Method get = Class.forName("android.os.ServiceManager").getMethod("getService", String.class);
        Object binder = call(null, get, name);
        Class<?> stub = Class.forName(type + "$Stub");
        return call(null, stub.getMethod("asInterface", Class.forName("android.os.IBinder")), binder);
    }
}
